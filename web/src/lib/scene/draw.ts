/** Draws a scene: world units with y up, fitted whole into the canvas, colours by role. */
import type { Paint, Scene } from '$lib/api/types';

/** The part of a canvas context that scenes need; tests hand in a recorder. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'lineJoin'
  | 'lineCap'
  | 'font'
  | 'textAlign'
  | 'textBaseline'
  | 'beginPath'
  | 'closePath'
  | 'moveTo'
  | 'lineTo'
  | 'arc'
  | 'fill'
  | 'stroke'
  | 'fillRect'
  | 'fillText'
>;

/** Where world coordinates land on the canvas. */
export interface Fit {
  scale: number;
  x: (world: number) => number;
  y: (world: number) => number;
}

/** The view centred in `width` by `height`, as large as it goes, keeping its proportions. */
export function fit(view: Scene['view'], width: number, height: number): Fit {
  const [left = 0, bottom = 0, right = 1, top = 1] = view;
  const scale = Math.min(width / (right - left), height / (top - bottom));
  const offsetX = (width - scale * (right - left)) / 2;
  const offsetY = (height - scale * (top - bottom)) / 2;
  return {
    scale,
    x: (world) => offsetX + (world - left) * scale,
    y: (world) => height - offsetY - (world - bottom) * scale,
  };
}

/** Lines are never thinner than this on screen, so that far views stay legible. */
const HAIRLINE = 1;

export function draw(
  pen: Pen,
  scene: Scene,
  width: number,
  height: number,
  colour: (paint: Paint) => string,
  background: string,
  fontFamily = 'monospace',
): void {
  pen.fillStyle = background;
  pen.fillRect(0, 0, width, height);
  const to = fit(scene.view, width, height);
  pen.lineJoin = 'round';
  pen.lineCap = 'round';

  const finish = (fill: Paint | null, stroke: Paint | null, lineWidth: number) => {
    if (fill) {
      pen.fillStyle = colour(fill);
      pen.fill();
    }
    if (stroke) {
      pen.strokeStyle = colour(stroke);
      pen.lineWidth = Math.max(HAIRLINE, lineWidth * to.scale);
      pen.stroke();
    }
  };
  const trace = (points: readonly (readonly number[])[]) => {
    pen.beginPath();
    points.forEach(([x = 0, y = 0], index) => {
      if (index === 0) pen.moveTo(to.x(x), to.y(y));
      else pen.lineTo(to.x(x), to.y(y));
    });
  };

  for (const shape of scene.shapes) {
    switch (shape.kind) {
      case 'polygon':
        trace(shape.points);
        pen.closePath();
        finish(shape.fill, shape.stroke, shape.width);
        break;
      case 'line':
        trace(shape.points);
        finish(null, shape.stroke, shape.width);
        break;
      case 'circle': {
        const [x = 0, y = 0] = shape.center;
        pen.beginPath();
        pen.arc(to.x(x), to.y(y), shape.radius * to.scale, 0, 2 * Math.PI);
        finish(shape.fill, shape.stroke, shape.width);
        break;
      }
      case 'text': {
        const [x = 0, y = 0] = shape.at;
        pen.fillStyle = colour(shape.paint);
        pen.font = `${shape.size * to.scale}px ${fontFamily}`;
        pen.textAlign = 'center';
        pen.textBaseline = 'middle';
        pen.fillText(shape.text, to.x(x), to.y(y));
        break;
      }
      default:
        shape satisfies never;
    }
  }
}
