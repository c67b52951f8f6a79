/** A line of the audit in a few words. */
import type { AuditEntry } from '$lib/api/types';
import { written } from '$lib/knobs';

/** `learning_rate 0.0003 to 0.0002`, or what was done where there is no before and after. */
export function changeOf({
  what,
  old,
  new: next,
}: Pick<AuditEntry, 'what' | 'old' | 'new'>): string {
  const before = fields(old);
  const after = fields(next);
  const parts = Object.keys(after).map((path) => {
    const name = path.split('.').at(-1) ?? path;
    return path in before
      ? `${name} ${written(before[path])} to ${written(after[path])}`
      : `${name} ${written(after[path])}`;
  });
  if (parts.length === 0) return typeof next === 'string' ? `${what} ${next}` : what;
  return what === 'tune' ? parts.join(', ') : `${what}: ${parts.join(', ')}`;
}

function fields(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
