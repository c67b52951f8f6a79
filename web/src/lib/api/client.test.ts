import { expect, test } from 'vitest';

import { ApiProblem } from './client';

test('a complaint is told at its field, without the path of it', () => {
  const problem = new ApiProblem({
    type: 'about:blank',
    title: 'Unprocessable Entity',
    status: 422,
    detail: '',
    code: 'invalid_field',
    request_id: '',
    errors: [
      { pointer: '/links/loki', detail: '`links.loki`: a link begins with https:// or http://' },
      { pointer: '/name', detail: '`prices.name`: is not its own' },
    ],
  });
  expect(problem.at('/links/loki')).toBe('a link begins with https:// or http://');
  expect(problem.at('/name')).toBe('`prices.name`: is not its own');
  expect(problem.at('/links/grafana')).toBeUndefined();
});
