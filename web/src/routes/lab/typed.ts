/** What was typed into the form, as it stands in an address: `seed=7;trainer.gamma=0.95`. */

/** Nothing where nothing was typed. */
export function writeTyped(typed: Record<string, string>): string | null {
  const parts = Object.entries(typed).map(([name, text]) => `${name}=${text}`);
  return parts.join(';') || null;
}

export function readTyped(text: string | null): Record<string, string> {
  const parts = (text ?? '').split(';').map((part) => part.split('='));
  return Object.fromEntries(
    parts.flatMap(([name = '', ...rest]) =>
      name && rest.length > 0 ? [[name, rest.join('=')]] : [],
    ),
  );
}
