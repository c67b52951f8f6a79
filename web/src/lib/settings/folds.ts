/** Groups that were folded or unfolded by hand, as an address has them: `Network,-Training`. */

const SHUT = '-';

/** Only what differs from how a group is at first; nothing when none does. */
export function writeFolds(
  unfolded: Readonly<Record<string, boolean>>,
  isOpenAtFirst: (name: string) => boolean,
): string | null {
  const changed = Object.entries(unfolded).filter(([name, is]) => is !== isOpenAtFirst(name));
  return changed.map(([name, is]) => (is ? name : SHUT + name)).join(',') || null;
}

export function readFolds(text: string | null): Record<string, boolean> {
  const names = (text ?? '').split(',').filter((name) => name !== '');
  return Object.fromEntries(
    names.map((name) => (name.startsWith(SHUT) ? [name.slice(SHUT.length), false] : [name, true])),
  );
}
