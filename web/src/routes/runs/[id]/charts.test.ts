import { expect, test } from 'vitest';
import type { Series } from '$lib/api/types';

import { chartsOf } from './charts';

const seriesOf = (...keys: string[]) =>
  new Map(
    keys.map((key): [string, Series] => [key, { key, label: key, step: [1], t: [1], value: [1] }]),
  );
const keysOf = (keys: string[], ended = false, isOurs = true) => {
  const whole = seriesOf(...keys);
  return chartsOf(whole, whole, { isOurs, ended }).map(({ key }) => key);
};

test('before anything is known, every chart has its place', () => {
  expect(keysOf([])).toContain('train/approx_kl');
  expect(keysOf(['rollout/ep_rew_mean'])).toContain('train/approx_kl');
});

test('what its updates do not measure is left out, what comes later is not', () => {
  const shown = keysOf(['train/loss', 'time/fps']);
  expect(shown).not.toContain('train/approx_kl');
  expect(shown).toContain('eval/mean_reward');
});

test('after the end there is only what there is', () => {
  expect(keysOf(['train/loss', 'own/metric'], true)).toEqual(['train/loss', 'own/metric']);
  expect(keysOf(['time/fps'], false, false)).toEqual(['time/fps']);
});

test('a stretch without points keeps its chart', () => {
  const whole = seriesOf('train/loss', 'eval/mean_reward');
  const shown = chartsOf(seriesOf('train/loss'), whole, { isOurs: true, ended: true });
  expect(shown.map(({ key, series }) => [key, series.value.length])).toEqual([
    ['eval/mean_reward', 0],
    ['train/loss', 1],
  ]);
});

test('a training by self-play has charts of its own', () => {
  const whole = seriesOf('arena/elo', 'train/policy_loss', 'self_play/cache_share');
  const shown = chartsOf(whole, whole, { isOurs: true, ended: false, isSelfPlay: true });
  const keys = shown.map(({ key }) => key);
  expect(keys.slice(0, 2)).toEqual(['arena/elo', 'arena/score_best']);
  expect(keys).not.toContain('train/approx_kl');
  expect(keys.at(-1)).toBe('self_play/cache_share');
  const score = shown.find(({ key }) => key === 'arena/score_best');
  expect([score?.format(0.625), score?.format(null)]).toEqual(['62%', '–']);
});
