/** Whether the colours keep what their comments promise: contrast, and that series differ for all. */
import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

type Rgb = readonly [number, number, number];

const css = readFileSync('src/lib/styles/tokens.css', 'utf8');
const [, light = '', dark = ''] =
  /:root \{(.*?)\n\}.*?\[data-theme='dark'\] \{(.*?)\n\}/s.exec(css) ?? [];

/** The plain colours of a block, by name. */
function colorsOf(block: string): Record<string, string> {
  const found = block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g);
  return Object.fromEntries([...found].map(([, name, hex]) => [name, hex]));
}

const THEMES = [
  { name: 'light', colors: colorsOf(light) },
  { name: 'dark', colors: { ...colorsOf(light), ...colorsOf(dark) } },
];

/** Red, green and blue as light, 0 to 1. */
function linear(hex: string): Rgb {
  const part = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

/** Contrast as WCAG 2 has it, 1 to 21. */
function contrast(one: string, other: string): number {
  const luminance = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const [high, low] = [luminance(linear(one)), luminance(linear(other))].sort((a, b) => b - a);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

const times = (matrix: readonly Rgb[], [a, b, c]: Rgb) =>
  matrix.map(([x, y, z]) => x * a + y * b + z * c) as unknown as Rgb;

/** What people see who lack a kind of cone: Machado, Oliveira and Fernandes (2009), severity 1. */
const SIGHTS: Record<string, readonly Rgb[]> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** OKLab (Ottosson 2020) of linear light. */
function oklab(rgb: Rgb): Rgb {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones.map(Math.cbrt) as unknown as Rgb,
  );
}

function distance(one: string, other: string, sight: readonly Rgb[]): number {
  const seen = (hex: string) =>
    oklab(times(sight, linear(hex)).map((part) => Math.min(1, Math.max(0, part))) as never);
  const [a, b] = [seen(one), seen(other)];
  return Math.hypot(...a.map((part, index) => part - (b[index] ?? 0)));
}

describe.each(THEMES)('$name', ({ colors }) => {
  const of = (name: string) => {
    const hex = colors[name];
    if (!hex) throw new Error(`no colour --${name}`);
    return hex;
  };
  const series = Array.from({ length: 10 }, (_, index) => `series-${index + 1}`);

  test.each([
    ...['ink', 'ink-2', 'ink-3', 'accent', 'alert'].flatMap((text) =>
      ['surface', 'surface-2', 'bg'].map((ground) => [text, ground, 4.5] as const),
    ),
    ['accent-ink', 'accent', 4.5],
    ['accent-ink', 'accent-hover', 4.5],
    ['alert-ink', 'alert', 4.5],
    ['ink-inverse', 'ink', 4.5],
    ['ink', 'accent-soft', 4.5],
    ['ink-2', 'accent-soft', 4.5],
    ['alert', 'alert-soft', 4.5],
    ['scene-text', 'scene-bg', 4.5],
    ['line-control', 'surface', 3],
    ['focus', 'surface', 3],
    ['focus', 'bg', 3],
    ...series.map((name) => [name, 'surface', 3] as const),
  ] as const)('--%s is read on --%s', (text, ground, least) => {
    expect(contrast(of(text), of(ground))).toBeGreaterThanOrEqual(least);
  });

  test.each(Object.entries(SIGHTS))('no two series look alike to %s sight', (_, sight) => {
    const close = series.flatMap((one, index) =>
      series.slice(index + 1).flatMap((other) => {
        const apart = distance(of(one), of(other), sight);
        return apart < 0.07 ? [`${one} and ${other}: ${apart.toFixed(3)}`] : [];
      }),
    );
    expect(close).toEqual([]);
  });
});
