/** Evaluations page by page, newest first. */
import type { EvaluationJob } from '$lib/api/types';

export interface JobList {
  evaluations: EvaluationJob[];
  next_cursor: string | null;
}

/** The list with its first page as it is now; what was loaded beyond it stays. */
export function renewed(before: JobList | null, first: JobList): JobList {
  const last = first.evaluations.at(-1)?.run.id;
  const held = before?.evaluations.findIndex(({ run }) => run.id === last) ?? -1;
  const rest = held < 0 ? [] : (before?.evaluations.slice(held + 1) ?? []);
  if (!before || rest.length === 0) return first;
  return { evaluations: [...first.evaluations, ...rest], next_cursor: before.next_cursor };
}

/** The list and the page that follows it. What came meanwhile has moved some on to that page. */
export function continued(now: JobList, next: JobList): JobList {
  const known = new Set(now.evaluations.map(({ run }) => run.id));
  const others = next.evaluations.filter(({ run }) => !known.has(run.id));
  return { ...next, evaluations: [...now.evaluations, ...others] };
}
