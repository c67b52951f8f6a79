/** Numbers, durations and ages as people read them. Absent values are an en dash. */

export const NONE = '–';

type Maybe = number | null | undefined;

/** `412672` as `412,672`. */
export function count(value: Maybe): string {
  if (!isNumber(value)) return NONE;
  const text = grouped(Math.abs(value).toFixed(0));
  return value < 0 && text !== '0' ? `-${text}` : text;
}

/** A reward or return: always signed, one decimal. */
export function signed(value: Maybe, digits = 1): string {
  if (!isNumber(value)) return NONE;
  const text = grouped(Math.abs(value).toFixed(digits));
  return (value < 0 && /[1-9]/.test(text) ? '-' : '+') + text;
}

/** A measurement of unknown size: about `digits` significant figures, no exponent while readable. */
export function measure(value: Maybe, digits = 3): string {
  if (!isNumber(value)) return NONE;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 10_000) return count(value);
  if (size < 1e-5) return value.toExponential(digits - 1);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toFixed(Math.min(decimals, 8));
}

/** `184310` as `184k`, for figures and axes. */
export function short(value: Maybe): string {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  for (const [unit, name] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (size >= unit) return trim(value / unit, size >= 100 * unit ? 0 : 1) + name;
  }
  return trim(value, size >= 100 ? 0 : 1);
}

/** `0.41` as `41%`. Never rounds up to 100 before the end. */
export function percent(share: number): string {
  return `${share >= 1 ? 100 : Math.min(99, Math.floor(share * 100))}%`;
}

/** Seconds as `3 min 12 s`: two units at most. */
export function duration(seconds: Maybe): string {
  if (!isNumber(seconds)) return NONE;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return join(minutes, 'min', whole % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return join(hours, 'h', minutes % 60, 'min');
  return join(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** How long ago, in one unit: `14 s`, `2 min`, `3 h`, `5 d`. */
export function age(from: number | string | null, nowMs: number): string {
  if (from === null) return NONE;
  const then = typeof from === 'string' ? Date.parse(from) : from;
  const seconds = Math.max(0, Math.floor((nowMs - then) / 1000));
  if (!Number.isFinite(seconds)) return NONE;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The age of a heartbeat: `0.4 s`. */
export function beat(milliseconds: Maybe): string {
  if (!isNumber(milliseconds)) return NONE;
  return milliseconds < 10_000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : duration(milliseconds / 1000);
}

/** Bytes as value and unit, decimal: `['212', 'MB']`. */
export function bytes(value: Maybe): [figure: string, unit: string] {
  if (!isNumber(value)) return [NONE, ''];
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return [trim(size, size < 10 && unit > 0 ? 1 : 0), units[unit] ?? ''];
}

/** The clock time of a Unix second, `HH:MM` or `HH:MM:SS`. */
export function clock(seconds: number, withSeconds = false): string {
  const text = new Date(seconds * 1000).toTimeString();
  return text.slice(0, withSeconds ? 8 : 5);
}

/** Thousands apart. `Intl` can do it too, but its first use is among the dearest things of a page. */
function grouped(digits: string): string {
  const [whole = '', ...decimals] = digits.split('.');
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ','), ...decimals].join('.');
}

function isNumber(value: Maybe): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function trim(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
