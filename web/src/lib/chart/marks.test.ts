import type uPlot from 'uplot';
import { afterEach, expect, test, vi } from 'vitest';

import type { Colors } from './look';
import { drawMarks } from './marks';

afterEach(() => void vi.unstubAllGlobals());

test('a checkpoint is within the lines, away from the labels of both axes', () => {
  vi.stubGlobal('devicePixelRatio', 1);
  const squares: number[][] = [];
  const pen = new Proxy({} as CanvasRenderingContext2D, {
    get: (_, name) => (name === 'fillRect' ? (...at: number[]) => squares.push(at) : () => {}),
    set: () => true,
  });
  const plot = {
    ctx: pen,
    bbox: { left: 48, top: 14, width: 200, height: 100 },
    valToPos: (x: number) => 48 + x,
  } as unknown as uPlot;
  const marks = [0, 100].map((x) => ({ kind: 'checkpoint' as const, x }));
  drawMarks(plot, marks, [0, 200], {} as Colors);
  expect(squares).toEqual([
    [49, 107, 6, 6],
    [145, 107, 6, 6],
  ]);
});
