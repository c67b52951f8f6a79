/**
 * What a person should know of now. Taking note is told to everybody; muting only hides an alert in
 * this browser, until something new happens.
 */
import { api, asProblem } from '$lib/api/client';
import { live } from '$lib/api/live.svelte';
import type { Alert, FeedMessage, Problem } from '$lib/api/types';

const MOST = 50;
const MUTED = 'muted-alerts';
/** What is muted comes back after an hour. */
const MUTE_MS = 3_600_000;

export class Alerts {
  /** Newest first. */
  all = $state.raw<readonly Alert[]>([]);
  loaded = $state(false);
  problem = $state.raw<Problem | null>(null);
  /** Until when each muted alert is hidden. */
  muted = $state.raw<Readonly<Record<string, number>>>(readMuted());
  open = $derived.by(() => this.all.filter((alert) => alert.state !== 'resolved'));
  shown = $derived.by(() => this.open.filter(({ id }) => !this.isMuted(id)));
  firing = $derived.by(() => this.shown.filter((alert) => alert.state === 'firing'));

  /** Loads and listens until the returned function is called. */
  start(): () => void {
    void this.load();
    return live.listen((message) => this.#receive(message));
  }

  async load(): Promise<void> {
    try {
      this.all = (await api.get('/api/alerts', { query: { limit: MOST } })).alerts;
      this.problem = null;
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.loaded = true;
    }
  }

  async acknowledge(id: string): Promise<void> {
    this.#take(await api.post('/api/alerts/{id}/acknowledge', { path: { id } }));
  }

  isMuted(id: string): boolean {
    return (this.muted[id] ?? 0) > Date.now();
  }

  mute(id: string): void {
    this.#keep({ ...this.muted, [id]: Date.now() + MUTE_MS });
  }

  unmute(...ids: string[]): void {
    this.#keep(Object.fromEntries(Object.entries(this.muted).filter(([id]) => !ids.includes(id))));
  }

  #receive(message: FeedMessage): void {
    if (message.type === 'AlertTriggered' || message.type === 'AlertChanged') {
      this.#take(message.alert);
    } else if (message.type === 'Snapshot' && this.loaded) void this.load();
  }

  #take(alert: Alert): void {
    const others = this.all.filter(({ id }) => id !== alert.id);
    this.all = [alert, ...others]
      .sort((a, b) => b.triggered_at.localeCompare(a.triggered_at))
      .slice(0, MOST);
  }

  #keep(muted: Record<string, number>): void {
    this.muted = Object.fromEntries(
      Object.entries(muted).filter(([, until]) => until > Date.now()),
    );
    try {
      localStorage.setItem(MUTED, JSON.stringify(this.muted));
    } catch {
      // Storage may be forbidden; the alert is then hidden as long as the page is open.
    }
  }
}

function readMuted(): Record<string, number> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(MUTED) ?? '{}');
    return typeof kept === 'object' && kept !== null ? (kept as Record<string, number>) : {};
  } catch {
    return {};
  }
}
