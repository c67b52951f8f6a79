import type { Paint } from '$lib/api/types';

/** Looks up the theme's colours; make a new one when the theme changes. */
export function readPaints(root: HTMLElement): (paint: Paint) => string {
  const style = getComputedStyle(root);
  const known = new Map<Paint, string>();
  return (paint) => {
    let value = known.get(paint);
    if (value === undefined) {
      value = style.getPropertyValue(`--${paint.replaceAll('_', '-')}`).trim();
      known.set(paint, value);
    }
    return value;
  };
}
