import type { Paint, Scene } from '$lib/api/types';

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

/**
 * The accent of a light theme is for light ground, such as a board. A scene without one is drawn on
 * the night, in both themes, where what is alive has a colour of its own.
 */
export function onGround(scene: Scene, colour: (paint: Paint) => string): (paint: Paint) => string {
  if (scene.shapes.some(isOfBoard)) return colour;
  return (paint) => colour(paint === 'accent' ? 'scene_live' : paint);
}

function isOfBoard(shape: Scene['shapes'][number]): boolean {
  const paints =
    shape.kind === 'text' ? [shape.paint] : [shape.stroke, 'fill' in shape && shape.fill];
  return paints.some((paint) => paint && /^(board|hole|disc)/.test(paint));
}
