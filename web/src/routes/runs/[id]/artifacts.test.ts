import { expect, test } from 'vitest';
import type { Artifact } from '$lib/api/types';

import { doorsOf } from './artifacts';

const run = { id: 'r-000001', kind: 'train' } as const;
const artifact = { id: 'a-1' } as Artifact;

test('doors are shut with a reason', () => {
  const { tensorboard, wandb } = doorsOf(run, [], [], { wandb_url: null });
  expect([tensorboard.isOpen, wandb.href]).toEqual([false, null]);
  expect(tensorboard.reason).toMatch(/^No TensorBoard/);
  expect(wandb.reason).toMatch(/^Not on W&B/);
});

test('only our own runs are told to be evaluated', () => {
  expect(doorsOf(run, [], [], null).video).toMatch(/EVALUATE/);
  expect(doorsOf({ ...run, kind: 'external' }, [], [], null).video).not.toMatch(/EVALUATE/);
});

test('a page at W&B goes before its folder', () => {
  const url = 'https://wandb.ai/me/lab/runs/1';
  expect(doorsOf(run, [], [artifact], { wandb_url: url }).wandb).toMatchObject({
    href: url,
    away: true,
  });
  expect(doorsOf(run, [artifact], [artifact], { wandb_url: null })).toMatchObject({
    tensorboard: { isOpen: true },
    wandb: { href: '/api/runs/r-000001/artifacts/a-1', away: false },
  });
});
