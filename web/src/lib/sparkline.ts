/** Curves small enough for a card. */

export interface Area {
  width: number;
  height: number;
  x: readonly [number, number];
  y: readonly [number, number];
}

/** Room for the line's own width and the dot at its end. */
const EDGE = 3;

export function areaOf(
  x: readonly number[],
  values: readonly (number | null)[],
  width: number,
  height: number,
  range?: readonly [number, number],
): Area {
  const known = values.filter((value): value is number => value !== null);
  let [low, high] = [Math.min(...known), Math.max(...known)];
  // A flat line runs through the middle.
  if (!(high > low)) [low, high] = [low - 1, high + 1];
  return { width, height, x: range ?? [x[0] ?? 0, x.at(-1) ?? 1], y: [low, high] };
}

/** An SVG path; gaps (null) stay gaps. */
export function lineOf(
  x: readonly number[],
  values: readonly (number | null)[],
  area: Area,
): { path: string; end: readonly [number, number] | null } {
  const [left, right] = area.x;
  const [low, high] = area.y;
  let path = '';
  let end: readonly [number, number] | null = null;
  let pen = false;
  values.forEach((value, index) => {
    if (value === null) {
      pen = false;
      return;
    }
    // What has just come may be newer than the clock that the range ends at.
    const along = right > left ? Math.min(1, ((x[index] ?? left) - left) / (right - left)) : 1;
    const up = (value - low) / (high - low);
    end = [
      round(EDGE + along * (area.width - 2 * EDGE)),
      round(EDGE + (1 - up) * (area.height - 2 * EDGE)),
    ];
    path += `${pen ? 'L' : 'M'}${end[0]} ${end[1]}`;
    pen = true;
  });
  return { path, end };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
