/**
 * What was just done, in one line with one action, mostly Undo, and how to do it from a shell. It
 * goes away by itself after ten seconds, but not while somebody is about to press it.
 *
 *     toasts.show('3 runs archived', { undo: () => unarchive(ids) });
 *     toasts.show('r-7f3k2m is paused', { answers: [answer] });
 *     toasts.warn('The run could not be archived');
 */
import { recipeOf } from '$lib/api/client';

export interface ToastAction {
  label: string;
  run: () => unknown;
}

export interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'warn';
  action: ToastAction | null;
  /** The same for a shell, a line for each change; none where the lab gave none. */
  curl: string;
}

interface Options {
  /** Takes back what was done; the button says Undo. */
  undo?: () => unknown;
  /** Any other single action. */
  action?: ToastAction;
  /** What the lab answered to the changes. */
  answers?: readonly object[];
}

const LIFE_MS = 10_000;
/** Older ones make room. */
const MOST = 4;

export class Toasts {
  list = $state.raw<readonly Toast[]>([]);

  #next = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  show(text: string, { undo, action, answers = [] }: Options = {}): number {
    const curl = answers.flatMap((answer) => recipeOf(answer)?.curl ?? []).join('\n');
    return this.#add(text, 'plain', action ?? (undo ? { label: 'Undo', run: undo } : null), curl);
  }

  warn(text: string, { action }: Options = {}): number {
    return this.#add(text, 'warn', action ?? null);
  }

  /** Does what the toast offers, once, and takes it away. What fails is told in another. */
  async act(id: number): Promise<void> {
    const toast = this.list.find((other) => other.id === id);
    this.dismiss(id);
    try {
      await toast?.action?.run();
    } catch (error) {
      this.warn(error instanceof Error ? error.message : String(error));
    }
  }

  dismiss(id: number): void {
    this.hold(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Stays until it is let go: the pointer or the focus is on it. */
  hold(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  /** Goes away in a while. */
  release(id: number): void {
    this.hold(id);
    if (!this.list.some((toast) => toast.id === id)) return;
    this.#timers.set(
      id,
      setTimeout(() => this.dismiss(id), LIFE_MS),
    );
  }

  #add(text: string, tone: Toast['tone'], action: ToastAction | null, curl = ''): number {
    const id = this.#next++;
    for (const { id: old } of this.list.slice(0, Math.max(0, this.list.length - MOST + 1)))
      this.dismiss(old);
    this.list = [...this.list, { id, text, tone, action, curl }];
    this.release(id);
    return id;
  }
}

export const toasts = new Toasts();
