import { expect, test } from 'vitest';
import type { Run } from '$lib/api/types';

import { emptyOf } from './empty';

const RUN = { id: 'r-1', kind: 'train', of_run: null, checkpoint_step: 500, state: 'succeeded' };

test.each([
  [{}, false, 'Evaluate its policy', '/evaluations?new=policy&run=r-1', '/api/runs/r-1/evaluate'],
  [
    { kind: 'eval', of_run: 'r-2' },
    false,
    'Evaluate its policy',
    '/evaluations?new=policy&run=r-2',
    '/api/runs/r-2/evaluate',
  ],
  [{ checkpoint_step: null }, false, 'Open the run', '/runs/r-1', '/api/runs/r-1'],
  [{}, true, 'Open the run', '/runs/r-1', '/api/runs/r-1'],
  [{ state: 'running' }, false, 'Watch it', '/runs/r-1', '/api/runs/r-1/episodes'],
  [{ kind: 'human' }, true, 'Open the game', '/play/r-1', '/api/play/r-1'],
  [{ kind: 'human' }, false, 'Open it', '/play/environments/r-1', '/api/play/environments/r-1'],
])('where %j has no episode, game %s: %s', (more, is_game, label, href, path) =>
  expect(emptyOf({ ...RUN, ...more } as Run, { is_game })).toMatchObject({ label, href, path }),
);
