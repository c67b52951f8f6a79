/**
 * What was just done, in one line with what can follow, mostly Undo, and how to do it from a shell.
 * It goes away by itself after ten seconds, but not while somebody is about to press it.
 *
 *     toasts.show('3 runs archived', { undo: () => unarchive(ids) });
 *     toasts.show('r-7f3k2m is paused', { answers: [answer] });
 *     toasts.warn('The run could not be archived');
 */
import { ApiProblem, asProblem, recipeOf } from '$lib/api/client';

export interface ToastAction {
  label: string;
  run: () => unknown;
}

export interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'warn';
  /** What can be pressed. */
  actions: readonly ToastAction[];
  /** The same for a shell, a line for each change; none where the lab gave none. */
  curl: string;
}

interface Options {
  /** Takes back what was done; the button says Undo. */
  undo?: () => unknown;
  /** Another action beside it. */
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
    const actions = [...(action ? [action] : []), ...(undo ? [{ label: 'Undo', run: undo }] : [])];
    return this.#add(text, 'plain', actions, curl);
  }

  warn(text: string, { action }: Options = {}): number {
    return this.#add(text, 'warn', action ? [action] : []);
  }

  /** Does what the toast offers, once, and takes it away. What fails is told in another. */
  async act(id: number, index = 0): Promise<void> {
    const toast = this.list.find((other) => other.id === id);
    this.dismiss(id);
    try {
      await toast?.actions[index]?.run();
    } catch (error) {
      const { title, detail } = asProblem(error);
      this.warn(error instanceof ApiProblem ? detail || title : detail);
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

  #add(text: string, tone: Toast['tone'], actions: Toast['actions'], curl = ''): number {
    const id = this.#next++;
    for (const { id: old } of this.list.slice(0, Math.max(0, this.list.length - MOST + 1)))
      this.dismiss(old);
    this.list = [...this.list, { id, text, tone, actions, curl }];
    this.release(id);
    return id;
  }
}

export const toasts = new Toasts();
