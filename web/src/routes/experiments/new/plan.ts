/** A configuration with changes laid over it, as the lab lays those of a clone. */
export function over<T>(config: T, changes: unknown): T {
  if (!isObject(config) || !isObject(changes)) return changes as T;
  const merged: Record<string, unknown> = { ...config };
  for (const [name, value] of Object.entries(changes)) merged[name] = over(config[name], value);
  return merged as T;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
