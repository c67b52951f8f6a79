import { expect, test } from 'vitest';

import { curlOfDeed, over } from './plan';

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

test('the curl of a button makes the requests of the button', () => {
  const wanted = {
    origin: 'http://lab',
    route: '/api/experiments/e-1/clone',
    body: { name: 'copy', changes: {} },
    whole: { name: 'copy', config: { env_id: 'A' } },
    seeds: { seed_base: 7, count: 3 },
  };
  const posts = (deed: 'start' | 'save' | 'dry') =>
    [...curlOfDeed(deed, wanted).matchAll(/-d '(.*)' \\\n +(\S+)/g)].map(([, body, url]) => [
      url,
      body,
    ]);
  const save = ['http://lab/api/experiments/e-1/clone', '{"name":"copy","changes":{}}'];
  expect(posts('save')).toEqual([save]);
  expect(posts('start')).toEqual([
    save,
    [
      'http://lab/api/runs',
      `{"experiment_id":"'"$EXPERIMENT"'","seeds":{"seed_base":7,"count":3}}`,
    ],
  ]);
  expect(posts('dry')).toEqual([
    [
      'http://lab/api/experiments',
      '{"name":"copy","config":{"env_id":"A"},"dry_run":true,"seeds":{"seed_base":7,"count":3}}',
    ],
  ]);
});
