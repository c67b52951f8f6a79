/** Puts a text on the clipboard; false where the browser lets nobody. */
export async function copy(text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text, beside);
  }
}

/**
 * The clipboard needs a secure origin, and over plain HTTP on a network there is none. The old way
 * works there; it needs the text selected in the page, inside the dialog if one is open.
 */
function copyByHand(text: string, beside: HTMLElement): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.style.cssText = 'position: fixed; opacity: 0';
  const focused = document.activeElement;
  beside.after(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isDone;
}
