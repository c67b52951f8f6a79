import { expect, test } from 'vitest';

import { over } from './plan';

test('changes replace what they name and leave the rest', () => {
  const config = { env_id: 'A', trainer: { gamma: 0.99, net_arch: [64, 64] }, env: {} };
  expect(over(config, {})).toEqual(config);
  expect(over(config, { trainer: { net_arch: [8] }, env: { wind: true } })).toEqual({
    env_id: 'A',
    trainer: { gamma: 0.99, net_arch: [8] },
    env: { wind: true },
  });
  expect(over(config, { trainer: { gamma: null } }).trainer.gamma).toBe(null);
});
