/** A curve as a file for spreadsheets: its values as they were measured, not smoothed. */
import type { Series } from '$lib/api/types';

/** What is in such a file; what a machine used has no steps. */
export type Curve = Pick<Series, 't' | 'value'> & Partial<Pick<Series, 'step'>>;

export function csvOf({ step, t, value }: Curve): string {
  const lines = t.map((at, index) => {
    const time = new Date(1000 * at).toISOString();
    // What was not finite, or not measured, is left empty.
    return `${step ? `${step[index]},` : ''}${time},${value[index] ?? ''}`;
  });
  return [`${step ? 'step,' : ''}wall_time,value`, ...lines, ''].join('\n');
}

/** What its file is called: run and metric, without what file systems dislike. */
export function csvName(run: string, metric: string): string {
  return `${run}-${metric.replaceAll(/[^\w.-]+/g, '-')}.csv`;
}
