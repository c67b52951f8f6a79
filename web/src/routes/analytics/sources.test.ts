import { describe, expect, test } from 'vitest';

import { sourceOf, stateOf } from './sources';

describe('sources', () => {
  test('the address says which', () => {
    expect(sourceOf(new URLSearchParams('source=wandb&run=a'))).toBe('wandb');
    expect(sourceOf(new URLSearchParams('source=elsewhere'))).toBe('local');
  });

  test('an old answer says why it is old', () => {
    const source = {
      base_url: 'https://wandb.example',
      entity: 'me',
      project: 'lander',
      age_seconds: 12.4,
      stale: false,
      trouble: null,
    };
    expect(stateOf(source)).toEqual({
      source: 'wandb',
      state: 'ok',
      detail: 'me/lander, as of 12 s ago',
    });
    const trouble = { code: 'wandb_slow', detail: 'the W&B server did not answer' };
    expect(stateOf({ ...source, stale: true, trouble })).toEqual({
      source: 'wandb',
      state: 'stale',
      detail: 'the W&B server did not answer; shown is me/lander, as of 12 s ago',
    });
  });
});
