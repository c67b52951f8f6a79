/** A weight keeps its share of the old mean over this part of the whole x range. */
const SHARE = 1 / 250;

/**
 * Exponential moving average, weighted by distance and debiased.
 *
 * `weight`, 0 (none) to 1, is the share of the old mean that remains after 1/250 of the range of
 * `x`. Weighting by distance makes a curve equally smooth however many points it has: few points
 * stand as they are, thousands become a line. The mean is divided by the weight it has gathered,
 * so that the first points are not pulled to zero. Gaps (null) stay gaps.
 */
export function smooth(
  x: readonly number[],
  values: readonly (number | null)[],
  weight: number,
): (number | null)[] {
  const range = (x.at(-1) ?? 0) - (x[0] ?? 0);
  if (weight <= 0 || !(range > 0)) return [...values];
  const base = Math.min(weight, 0.999);
  let sum = 0;
  let gathered = 0;
  let before = x[0] ?? 0;
  return values.map((value, index) => {
    if (value === null || !Number.isFinite(value)) return null;
    const here = x[index] ?? before;
    const keep = base ** ((here - before) / range / SHARE);
    before = here;
    sum = keep * sum + value;
    gathered = keep * gathered + 1;
    return sum / gathered;
  });
}

/** Means of what there is of the last `width` values; null until there were that many. */
export function movingMean(values: readonly (number | null)[], width: number): (number | null)[] {
  let sum = 0;
  let count = 0;
  const add = (value: number | null | undefined, sign: 1 | -1) => {
    if (typeof value !== 'number') return;
    sum += sign * value;
    count += sign;
  };
  return values.map((value, index) => {
    add(value, 1);
    add(values[index - width], -1);
    return index >= width - 1 && count > 0 ? sum / count : null;
  });
}
