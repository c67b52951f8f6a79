/** Things that happened, drawn over every chart of a run. */
import type uPlot from 'uplot';

import type { Colors } from './look';

export type MarkKind = 'tune' | 'checkpoint' | 'evaluation' | 'crash';

/** Something that happened, in the coordinates of the x axis. */
export interface Mark {
  kind: MarkKind;
  x: number;
}

/** More marks of a kind than this get no line, or the lines would hide the curve. */
const MAX_LINES = 12;
/** Signs of a kind that are closer than this, in pixels, are one sign. */
const APART = 11;

export function drawMarks(
  plot: uPlot,
  marks: readonly Mark[],
  range: readonly [number, number],
  colors: Colors,
): void {
  const { ctx, bbox } = plot;
  const unit = devicePixelRatio || 1;
  const bottom = bbox.top + bbox.height;
  const shown = marks.filter((mark) => mark.x >= range[0] && mark.x <= range[1]);
  const few = (kind: MarkKind) => shown.filter((mark) => mark.kind === kind).length <= MAX_LINES;
  const lines: Record<MarkKind, boolean> = {
    tune: few('tune'),
    checkpoint: few('checkpoint'),
    evaluation: few('evaluation'),
    crash: true,
  };
  const lastAt = new Map<MarkKind, number>();
  ctx.save();
  for (const { kind, x } of shown) {
    const at = Math.round(plot.valToPos(x, 'x', true));
    if (!lines[kind] && at - (lastAt.get(kind) ?? -Infinity) < APART * unit) continue;
    lastAt.set(kind, at);
    ctx.strokeStyle = ctx.fillStyle = colors[kind];
    if (lines[kind]) {
      ctx.globalAlpha = 0.5;
      ctx.lineWidth = unit;
      ctx.setLineDash(kind === 'crash' || kind === 'tune' ? [] : [unit, 3 * unit]);
      ctx.beginPath();
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bottom);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.globalAlpha = 1;
    }
    // Within the lines at their feet: the labels of both axes are right below and beside them.
    if (kind === 'checkpoint') {
      drawSign(ctx, kind, Math.max(at, bbox.left + 4 * unit), bottom - 4 * unit, 3 * unit);
    } else drawSign(ctx, kind, at, bbox.top - 6 * unit, 3 * unit);
  }
  ctx.restore();
}

function drawSign(
  ctx: CanvasRenderingContext2D,
  kind: MarkKind,
  x: number,
  y: number,
  size: number,
): void {
  ctx.beginPath();
  switch (kind) {
    case 'checkpoint':
      ctx.fillRect(x - size, y - size, 2 * size, 2 * size);
      break;
    case 'evaluation':
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fill();
      break;
    case 'tune': {
      const reach = size * 1.4;
      ctx.moveTo(x, y - reach);
      ctx.lineTo(x + reach, y);
      ctx.lineTo(x, y + reach);
      ctx.lineTo(x - reach, y);
      ctx.fill();
      break;
    }
    case 'crash':
      ctx.lineWidth = 0.53 * size;
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x + size, y - size);
      ctx.lineTo(x - size, y + size);
      ctx.stroke();
      break;
  }
}
