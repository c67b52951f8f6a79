/** Numbers that change while a training goes on: `lin_0.001`, `cos_0.003`, `cycle_0.01`. */

const PREFIX = /^(lin|cos|cycle)_/;

/** Whether somebody has written a schedule, or begun to. */
export function isSchedule(text: string): boolean {
  return PREFIX.test(text.trim());
}

/** The number of a schedule, or the text as it is. */
export function numberOf(text: string): string {
  return text.trim().replace(PREFIX, '');
}
