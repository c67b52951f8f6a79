/** What of a run's page is in its address. */
import { AXES, type Axis } from '$lib/chart/look';
import { type Order } from '$lib/replay/orders';
import { query } from '$lib/urls';

export type Panel = 'tune' | 'fork';

/** The orders in which a run's page has its episodes. */
export const ORDERS: readonly Order[] = ['best', 'worst', 'newest'];
const ORDER: Order = 'newest';

export interface View {
  axis: Axis;
  /** Weight of the smoothing. */
  weight: number;
  log: boolean;
  /** What was zoomed to, on the axis; nothing while the charts follow the newest point. */
  zoom: [number, number] | null;
  /** The metric whose chart fills the screen. */
  full: string | null;
  panel: Panel | null;
  /** The checkpoint to fork from. */
  from: string;
  /** What its picture shows while it trains. */
  feed: 'training' | 'policy';
  /** How its episodes are ordered. */
  order: Order;
  /** What is looked for among the events, in the settings, and in the log. */
  find: string;
  setting: string;
  grep: string;
}

export const SMOOTHING = 0.6;

export function readView(search: URLSearchParams): View {
  const axis = search.get('x') as Axis;
  const weight = Number(search.get('smooth') ?? SMOOTHING);
  const [low, high] = (search.get('range') ?? '').split('..').map(Number);
  const panel = search.get('panel');
  return {
    axis: AXES.includes(axis) ? axis : 'steps',
    weight: Number.isFinite(weight) ? Math.min(0.99, Math.max(0, weight)) : SMOOTHING,
    log: search.get('scale') === 'log',
    zoom:
      low !== undefined && high !== undefined && Number.isFinite(low) && high > low
        ? [low, high]
        : null,
    full: search.get('chart') || null,
    panel: panel === 'tune' || panel === 'fork' ? panel : null,
    from: search.get('from') ?? 'latest',
    feed: search.get('feed') === 'policy' ? 'policy' : 'training',
    order: ORDERS.find((one) => one === search.get('episodes')) ?? ORDER,
    find: search.get('find') ?? '',
    setting: search.get('setting') ?? '',
    grep: search.get('grep') ?? '',
  };
}

/** The query of the address, without what is as it is by itself. */
export function writeView(view: View): string {
  const { axis, weight, log, zoom, full, panel, from, feed, order, find, setting, grep } = view;
  return query({
    x: axis === 'steps' ? null : axis,
    smooth: weight === SMOOTHING ? null : weight,
    scale: log ? 'log' : null,
    range: zoom && zoom.map((end) => Number(end.toPrecision(12))).join('..'),
    chart: full,
    panel,
    from: panel === 'fork' && from !== 'latest' ? from : null,
    feed: feed === 'policy' ? feed : null,
    episodes: order === ORDER ? null : order,
    find,
    setting,
    grep,
  });
}
