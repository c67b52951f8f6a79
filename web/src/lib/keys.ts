/** Keys of the whole app: single keys and two-key sequences such as `g l`. */

export type Bindings = Record<string, () => void>;

/** Two keys are one sequence when no more lies between them. */
export const SEQUENCE_MS = 1200;

/** Handles keys on the window until the returned function is called. */
export function bindKeys(bindings: Bindings): () => void {
  let first = '';
  let at = 0;
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]')) return;
    const now = event.timeStamp;
    const pair = now - at < SEQUENCE_MS ? `${first} ${event.key}` : '';
    const action = bindings[pair] ?? bindings[event.key];
    first = event.key;
    at = now;
    if (!action) return;
    first = '';
    event.preventDefault();
    action();
  };
  window.addEventListener('keydown', press);
  return () => window.removeEventListener('keydown', press);
}

/** Whether keys go into a field right now. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) {
    return !['checkbox', 'radio', 'button', 'range'].includes(target.type);
  }
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName);
}
