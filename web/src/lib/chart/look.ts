/** How every chart looks: colours of the theme, round ticks, ranges, and the words on the axes. */
import { clock, duration, short } from '$lib/format';

export type Axis = 'steps' | 'wall' | 'relative';

export const AXES: readonly Axis[] = ['steps', 'wall', 'relative'];

export const TIME_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
  172_800, 604_800,
];
const LAST_POWER = 12;

/** Between whole steps of a training. */
export const COUNT_STEPS = steps([1, 2, 5], 0);
/** Between values. None is more than twice the one before, so that no axis is left with one line. */
export const NUMBER_STEPS = steps([1, 2, 2.5, 5], -8);

/** Half of the longest label that an x axis can end with, in pixels: it stands below the very edge. */
const LABEL_ENDS: Record<Axis, number> = { steps: 18, wall: 26, relative: 32 };

export function labelEnd(axis: Axis): number {
  return LABEL_ENDS[axis];
}

/** Read as decimals: 0.1 times 3 is not 0.3. */
function steps(multiples: readonly number[], from: number): number[] {
  const powers = Array.from({ length: LAST_POWER - from }, (_, index) => from + index);
  return powers.flatMap((power) => multiples.map((number) => Number(`${number}e${power}`)));
}

const known = new Map<string, ReturnType<typeof readColors>>();

/** The colours of a theme. They are read once: reading makes the browser compute all styles anew. */
export function colorsOf(theme: string): Colors {
  const found = known.get(theme) ?? readColors();
  known.set(theme, found);
  return found;
}

/** Canvases know no CSS variables: what they stand for in the present theme. */
function readColors() {
  const style = getComputedStyle(document.documentElement);
  const found = new Map<string, string>();
  const read = (name: string) => {
    const value = found.get(name) ?? style.getPropertyValue(name).trim();
    found.set(name, value);
    return value;
  };
  return {
    /** A variable as `var(--series-1)`. */
    of: (variable: string) => read(variable.replace(/^var\((.*)\)$/, '$1')),
    raw: Number(read('--raw-opacity')),
    surface: read('--surface'),
    grid: read('--grid'),
    tick: read('--ink-3'),
    tune: read('--accent'),
    checkpoint: read('--ink-3'),
    evaluation: read('--ink'),
    crash: read('--alert'),
    font: `10px ${read('--font-mono')}`,
  };
}

export type Colors = ReturnType<typeof readColors>;

/**
 * The range of the y axis around the values; with a logarithm, around the positive ones. What cannot
 * be less than nothing may have an axis that begins there.
 */
export function yRange(
  low: number | null,
  high: number | null,
  log: boolean,
  fromZero = false,
): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) {
    return log ? [0.1, 1] : [0, 1];
  }
  if (log) {
    return high > 0 ? [Math.max(low, 1e-12) / 1.25, high * 1.25] : [0.1, 1];
  }
  if (fromZero && low >= 0) return [0, high > 0 ? high * 1.08 : 1];
  // The mean of a constant differs from it in the last digit, and that is not a curve.
  if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
    const pad = Math.abs(low) * 0.5 || 1;
    return [low - pad, high + pad];
  }
  const pad = (high - low) * 0.08;
  // A series that is all above zero does not need ground below it.
  return [low >= 0 && low - pad < 0 ? 0 : low - pad, high + pad];
}

/**
 * Where a logarithmic axis has its lines: a few powers of ten, or 1, 2 and 5 where there is hardly
 * one. uPlot's own places need a range that begins at a round number, or they never end.
 */
export function logTicks(low: number, high: number): number[] {
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  if (!Number.isFinite(from) || !Number.isFinite(to)) return [];
  const round = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  const within = (place: number) => place >= low && place <= high;
  const powers = round.filter(within);
  if (powers.length < 2) {
    return round.flatMap((power) => [power, 2 * power, 5 * power]).filter(within);
  }
  const every = Math.ceil(powers.length / 4);
  return powers.filter((_, index) => index % every === 0);
}

/** Nothing has a logarithm that is not above zero: such points are gaps. */
export function positive(values: readonly (number | null)[]): (number | null)[] {
  return values.map((value) => (value !== null && value > 0 ? value : null));
}

export function xLabel(value: number, axis: Axis, range: readonly [number, number]): string {
  switch (axis) {
    case 'steps':
      return short(value);
    case 'relative':
      return value === 0 ? '0' : duration(value);
    case 'wall':
      return clock(value, range[1] - range[0] < 600);
  }
}

export function yLabel(value: number | null): string {
  if (value === null) return '';
  const size = Math.abs(value);
  if (size > 0 && size < 1e-4) return value.toExponential(0);
  return size >= 10_000 ? short(value) : String(Number(value.toPrecision(6)));
}

export function fade(hex: string, opacity: number): string {
  const alpha = Math.round(opacity * 255).toString(16);
  return /^#[0-9a-f]{6}$/i.test(hex) ? hex + alpha.padStart(2, '0') : hex;
}
