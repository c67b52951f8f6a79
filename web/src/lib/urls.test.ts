import { expect, test } from 'vitest';

import { query, urls } from './urls';

test('addresses carry only what is there', () => {
  expect(urls.lab()).toBe('/lab');
  expect(urls.lab({ env: 'CartPole-v1', run: null })).toBe('/lab?env=CartPole-v1');
  expect(urls.runs({ q: '' })).toBe('/runs');
  expect(urls.run('a/b')).toBe('/runs/a%2Fb');
  expect(urls.replays({ run: 'r-1' })).toBe('/replay?run=r-1');
  expect(urls.episode('r-1', 12, { t: 0 })).toBe('/replay/r-1/12?t=0');
  expect(query({ points: 0, x: undefined })).toBe('?points=0');
});
