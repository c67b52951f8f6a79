/** The audit in words, and what the address says of it. */
import type { AuditEntry } from '$lib/api/types';
import { unhashed } from '$lib/knobs';

export const FILTERS = ['actor', 'action', 'run', 'from', 'to'] as const;
export type Filter = (typeof FILTERS)[number];
export type Filters = Partial<Record<Filter, string>>;

/** What the address asks for. */
export function filtersOf(search: URLSearchParams): Filters {
  const found: Filters = {};
  for (const name of FILTERS) {
    const value = search.get(name)?.trim();
    if (value) found[name] = value;
  }
  return found;
}

/** The same as the API wants it: days become the moments at which they begin and end here. */
export function queryOf({ from, to, ...others }: Filters): Record<string, string> {
  return {
    ...others,
    ...(from ? { from: moment(from, '00:00:00.000') } : {}),
    ...(to ? { to: moment(to, '23:59:59.999') } : {}),
  };
}

/** A day, `2026-03-01`, as a moment; anything else as it is, for the lab to judge. */
function moment(day: string, time: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return day;
  const at = new Date(`${day}T${time}`);
  return Number.isNaN(at.getTime()) ? day : at.toISOString();
}

/** What changed, in one line: `0.0003 → 0.0001`. */
export function change({ old, new: now }: AuditEntry): string {
  const [before, after] = [brief(old), brief(now)];
  if (before && after) return `${before} → ${after}`;
  return after || (before ? `${before} → nothing` : '');
}

const MOST = 120;

function brief(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : words(value);
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text;
}

/** An object as `name: value, …`; what is deeper as JSON. */
function words(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  return Object.entries(value)
    .map(([name, it]) => `${name} ${typeof it === 'string' ? unhashed(it) : JSON.stringify(it)}`)
    .join(', ');
}
