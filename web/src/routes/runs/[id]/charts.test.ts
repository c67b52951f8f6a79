import { describe, expect, test } from 'vitest';
import type { Entry, Series } from '$lib/api/types';

import { chartsOf, marksOf } from './charts';

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

test('counters and doubles of other metrics have no chart', () => {
  const keys = ['train/loss', 'train/n_updates', 'train/old_approx_kl', 'time/episodes'];
  expect(keysOf(keys, true)).toEqual(['train/loss']);
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

test('value errors are told together: all, the hard ones, then set by set', () => {
  const whole = seriesOf(
    'solver/value_error_hard_l1_r1',
    'solver/value_error_l3_r1',
    'solver/value_error_hard',
    'solver/value_error_l1_r1',
    'solver/value_error',
  );
  const shown = chartsOf(whole, whole, { isOurs: true, ended: true, isSelfPlay: true });
  expect(shown.map(({ title }) => title)).toEqual([
    'Value errors',
    'Value errors, hard positions',
    'Value errors, L1_R1',
    'Value errors, L3_R1',
    'Value errors, L1_R1, hard positions',
  ]);
  expect(shown[0]?.format(0.0042)).toBe('0.4%');
});

test('a game without a solver has no place for what it would say', () => {
  const keysOf = (whole: Map<string, Series>) =>
    chartsOf(whole, whole, { isOurs: true, ended: false, isSelfPlay: true }).map(({ key }) => key);
  expect(keysOf(seriesOf())).toContain('solver/value_error');
  const pace = seriesOf('self_play/games_per_sec');
  expect(keysOf(pace), 'it answers after the first update').toContain('solver/value_error');
  pace.get('self_play/games_per_sec')?.step.push(2);
  expect(keysOf(pace)).not.toContain('solver/value_error');
});

describe('marks', () => {
  const entry = (type: string, step: number | null, t: number) => ({ type, step, t }) as Entry;
  const going = { failure: null, ended_at: null, step: 500 };
  const fps = new Map([
    ['time/fps', { key: 'time/fps', label: '', step: [100, 200, 300], t: [1, 2, 6], value: [] }],
  ]);
  const words = (...given: Parameters<typeof marksOf>) =>
    marksOf(...given).map(({ kind, x }) => `${kind} ${x}`);

  test('stand where changes, checkpoints and evaluations were, on any axis', () => {
    const log = [
      entry('checkpoint_saved', 100, 11),
      entry('tune_applied', 200, 12),
      entry('evaluation_complete', 300, 13),
      entry('log', 400, 14),
    ];
    expect(words(going, log, fps, 'steps', 10)).toEqual([
      'checkpoint 100',
      'tune 200',
      'evaluation 300',
    ]);
    expect(words(going, log, fps, 'wall', 10)[1]).toBe('tune 12');
    expect(words(going, log, fps, 'relative', 10)[1]).toBe('tune 2');
  });

  test('say where an attempt broke off, and not where one was ended and begun again', () => {
    const again = [entry('training_started', 0, 0), entry('restored', 150, 5)];
    expect(words(going, again, fps, 'steps', 0)).toEqual(['crash 200']);
    const stopped = [entry('training_started', 0, 0), entry('done', 200, 3), again[1] as Entry];
    expect(words(going, stopped, fps, 'steps', 0)).toEqual([]);
  });

  test('say where a run failed for good', () => {
    const failed = {
      failure: {} as never,
      ended_at: '1970-01-01T00:00:09Z',
      step: 321,
    };
    expect(words(failed, [], fps, 'steps', 0)).toEqual(['crash 300']);
    expect(words(failed, [], fps, 'wall', 4)).toEqual(['crash 6']);
    expect(words(failed, [], fps, 'relative', 4)).toEqual(['crash 2']);
    expect(words(failed, [], new Map(), 'steps', 0)).toEqual(['crash 321']);
  });
});
