/** The curves of the timeline as SVG paths. */
import type { Curve } from '$lib/replay/curve';

type Scale = (value: number) => number;

const at = (value: number) => value.toFixed(1);

/** The return after every stretch, from nought at the start. */
export function returnPath(curve: Curve, x: Scale, y: Scale): string {
  if (curve.done === 0) return '';
  let path = `M${at(x(0))} ${at(y(0))}`;
  curve.total.forEach((total, index) => {
    path += `L${at(x(curve.stepOf(index)))} ${at(y(total))}`;
  });
  return path;
}

/** Height of the largest reward, in pixels. */
const TALLEST = 14;
/** Sticks closer than this cannot be told apart. */
const APART = 3;

/** What steps earned, as sticks on the line of nought: of close ones the largest. */
export function rewardPath(curve: Curve, x: Scale, floor: number, width: number): string {
  const peak = curve.peak;
  if (peak === 0) return '';
  const each = Math.max(1, Math.ceil((curve.total.length * APART) / Math.max(1, width)));
  let path = '';
  for (let index = 0; index < curve.total.length; index += each) {
    let largest = 0;
    for (let near = index; near < Math.min(curve.total.length, index + each); near += 1) {
      for (const value of [curve.low[near] as number, curve.high[near] as number])
        if (Math.abs(value) > Math.abs(largest)) largest = value;
    }
    if (largest === 0) continue;
    const to = floor - (largest / peak) * TALLEST;
    path += `M${at(x(curve.stepOf(index)))} ${at(floor)}V${at(to)}`;
  }
  return path;
}
