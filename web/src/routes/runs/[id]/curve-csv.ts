/** A curve as a file for spreadsheets: its values as they were measured, not smoothed. */
import type { Series } from '$lib/api/types';

export function csvOf({ step, t, value }: Pick<Series, 'step' | 't' | 'value'>): string {
  const lines = step.map((at, index) => {
    const time = new Date(1000 * (t[index] ?? 0)).toISOString();
    // What was not finite is left empty.
    return `${at},${time},${value[index] ?? ''}`;
  });
  return ['step,wall_time,value', ...lines, ''].join('\n');
}

/** What its file is called: run and metric, without what file systems dislike. */
export function csvName(run: string, metric: string): string {
  return `${run}-${metric.replaceAll(/[^\w.-]+/g, '-')}.csv`;
}
