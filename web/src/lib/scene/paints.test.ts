import { expect, test } from 'vitest';
import type { Paint, Scene } from '$lib/api/types';

import { onGround } from './paints';

const ring = (stroke: Paint) => ({ kind: 'circle', center: [0, 0], radius: 1, fill: null, stroke });

test('the accent is that of the theme on a board, and bright on the night', () => {
  const night = { shapes: [ring('accent'), ring('scene_body')] } as unknown as Scene;
  const board = { shapes: [ring('accent'), ring('board_line')] } as unknown as Scene;
  const name = (paint: Paint) => paint;
  expect(onGround(night, name)('accent')).toBe('scene_live');
  expect(onGround(night, name)('scene_warm')).toBe('scene_warm');
  expect(onGround(board, name)('accent')).toBe('accent');
});
