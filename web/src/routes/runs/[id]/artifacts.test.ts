import { expect, test } from 'vitest';
import type { Artifact } from '$lib/api/types';

import { doorsOf } from './artifacts';

const run = { id: 'r-000001', kind: 'train', wandb: null } as const;
const artifact = { id: 'a-1' } as Artifact;

test('doors are shut with a reason', () => {
  const { tensorboard, wandb } = doorsOf(run, [], [], { wandb_url: null });
  expect([tensorboard.isOpen, wandb.href]).toEqual([false, null]);
  expect(tensorboard.reason).toMatch(/^No TensorBoard/);
  expect(wandb.reason).toBe('Enable --track and log in to use W&B');
  const { reason } = doorsOf({ ...run, kind: 'external' }, [], [], null).wandb;
  expect(reason).toMatch(/^Not on W&B/);
});

test('a run that W&B was told of has its page there, if it is one', () => {
  const at = (url: string) => ({
    ...run,
    wandb: { id: '1', url, entity: 'me', project: 'lab', base_url: 'https://api.wandb.ai' },
  });
  for (const url of ['https://wandb.ai/me/lab/runs/1', 'http://127.0.0.1:8080/me/lab/runs/1']) {
    expect(doorsOf(at(url), [], [], null).wandb).toMatchObject({ href: url, away: true });
  }
  for (const url of ['javascript:alert(1)', 'data:text/html,x', '//wandb.ai', '']) {
    expect(doorsOf(at(url), [], [], null).wandb).toMatchObject({ href: null, away: false });
  }
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
