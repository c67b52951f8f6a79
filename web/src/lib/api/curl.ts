/** A request as a line for a shell. */
export interface Asked {
  method: string;
  /** The whole address. */
  url: string;
  body?: unknown;
}

/** The command that makes the same request, with the token of whoever runs it. */
export function curlOf({ method, url, body }: Asked): string {
  const hasBody = body !== undefined;
  // With a body curl posts by itself.
  const isUsual = method === 'GET' || (method === 'POST' && hasBody);
  return [
    `curl ${isUsual ? '' : `-X ${method} `}-H "Authorization: Bearer $CARTRIDGE_TOKEN"`,
    // Every change has a key of its own, by which the lab knows it when it is asked for again.
    ...(method === 'GET' ? [] : ['  -H "Idempotency-Key: $(date +%s%N)"']),
    ...(hasBody ? [`  -H 'Content-Type: application/json'`, `  -d '${quoted(body)}'`] : []),
    `  ${quoteAddress(url)}`,
  ].join(' \\\n');
}

/**
 * Two commands, of which the second needs the id of what the first has made: `second` is given what
 * stands for it in its body.
 */
export function curlsOf(first: Asked, name: string, second: (id: string) => Asked): string {
  const id = `$${name}`;
  const made = curlOf(first).replace(/^curl/, 'curl -sS');
  const then = curlOf(second(id));
  return [
    `${name}=$(${made} \\\n  | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)`,
    // Out of the single quotes, so that the shell puts the id in.
    then.replaceAll(`"${id}"`, `"'"${id}"'"`),
  ].join('\n');
}

/** JSON inside single quotes of a shell. */
function quoted(value: unknown): string {
  return JSON.stringify(value).replaceAll("'", String.raw`'\''`);
}

/** Ampersands and question marks mean something to a shell. */
function quoteAddress(address: string): string {
  return /[?&*]/.test(address) ? `'${address}'` : address;
}
