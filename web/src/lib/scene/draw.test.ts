import { expect, test } from 'vitest';

import type { Scene } from '$lib/api/types';

import { draw, fit, type Pen } from './draw';

/** A pen that writes down what it is told. */
function recorder(): { pen: Pen; lines: string[] } {
  const lines: string[] = [];
  const number = (value: unknown) =>
    typeof value === 'number' ? String(Number(value.toFixed(2))) : String(value);
  const pen = new Proxy({} as Pen, {
    get:
      (_, name) =>
      (...given: unknown[]) =>
        lines.push(`${String(name)} ${given.map(number).join(' ')}`.trim()),
    set: (_, name, value) => {
      lines.push(`${String(name)} = ${number(value)}`);
      return true;
    },
  });
  return { pen, lines };
}

function drawn(shapes: Scene['shapes'], width = 200, height = 100): string[] {
  const { pen, lines } = recorder();
  const scene: Scene = { view: [-1, 0, 1, 1], shapes };
  draw(pen, scene, width, height, (paint) => `<${paint}>`, 'ground', 'mono');
  return lines.slice(4);
}

test('the view fits whole, centred, with y up', () => {
  const wide = fit([-1, 0, 1, 1], 400, 100);
  expect([wide.scale, wide.x(-1), wide.x(1), wide.y(0), wide.y(1)]).toEqual([
    100, 100, 300, 100, 0,
  ]);
  const tall = fit([-1, 0, 1, 1], 200, 300);
  expect([tall.scale, tall.x(-1), tall.y(0), tall.y(1)]).toEqual([100, 0, 200, 100]);
});

test('the ground fills everything, also beside the view', () => {
  const { pen, lines } = recorder();
  draw(pen, { view: [0, 0, 1, 1], shapes: [] }, 300, 100, String, 'ground');
  expect(lines.slice(0, 2)).toEqual(['fillStyle = ground', 'fillRect 0 0 300 100']);
});

test('a polygon is closed, filled, then stroked', () => {
  const shape = {
    kind: 'polygon' as const,
    points: [
      [0, 0],
      [1, 0],
      [0, 1],
    ] as [number, number][],
    fill: 'scene_body' as const,
    stroke: 'scene_edge' as const,
    width: 0.05,
  };
  expect(drawn([shape])).toEqual([
    'beginPath',
    'moveTo 100 100',
    'lineTo 200 100',
    'lineTo 100 0',
    'closePath',
    'fillStyle = <scene_body>',
    'fill',
    'strokeStyle = <scene_edge>',
    'lineWidth = 5',
    'stroke',
  ]);
});

test('a line is open and never thinner than a pixel', () => {
  const points: [number, number][] = [
    [-1, 0],
    [1, 1],
  ];
  expect(drawn([{ kind: 'line', points, stroke: 'scene_line', width: 0.001 }])).toEqual([
    'beginPath',
    'moveTo 0 100',
    'lineTo 200 0',
    'strokeStyle = <scene_line>',
    'lineWidth = 1',
    'stroke',
  ]);
});

test('a circle scales its radius', () => {
  const center: [number, number] = [0, 0.5];
  expect(
    drawn([{ kind: 'circle', center, radius: 0.1, fill: 'disc_a', stroke: null, width: 0 }]),
  ).toEqual(['beginPath', 'arc 100 50 10 0 6.28', 'fillStyle = <disc_a>', 'fill']);
});

test('text is centred at its place and sized in world units', () => {
  const at: [number, number] = [0, 0.5];
  expect(drawn([{ kind: 'text', at, text: 'X', size: 0.2, paint: 'scene_text' }])).toEqual([
    'fillStyle = <scene_text>',
    'font = 20px mono',
    'textAlign = center',
    'textBaseline = middle',
    'fillText X 100 50',
  ]);
});
