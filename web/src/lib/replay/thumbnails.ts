/** One picture of an episode, for lists: few at a time, and each only once. */
import { api } from '$lib/api/client';
import type { Episode, Scene } from '$lib/api/types';

/** Requests at once: the lab steps every episode again for its picture. */
const AT_ONCE = 3;
const KEPT = 300;

const kept = new Map<string, Scene | null>();
const waiting: (() => void)[] = [];
let under = 0;

/** How far in the episode the picture is from: late enough for something to have happened. */
const PART = 0.7;

/** The picture; null where there is none, because it was damaged or is somebody else's. */
export async function thumbnail(
  run: string,
  { episode, length, timestamp }: Pick<Episode, 'episode' | 'length' | 'timestamp'>,
  signal: AbortSignal,
): Promise<Scene | null> {
  // An episode that was played again after a crash has another time.
  const key = `${run} ${episode} ${timestamp ?? ''}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  if (under >= AT_ONCE) await new Promise<void>((go) => waiting.push(go));
  else under += 1;
  try {
    if (signal.aborted) return null;
    const from = Math.floor(length * PART);
    const { steps } = await api.get('/api/runs/{id}/episodes/{n}', {
      path: { id: run, n: episode },
      query: { from, to: from + 1, scenes: true },
      signal,
    });
    const scene = steps[0]?.scene ?? null;
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value as string);
    kept.set(key, scene);
    return scene;
  } catch {
    // The theatre says what is wrong with it.
    return null;
  } finally {
    const next = waiting.shift();
    if (next) next();
    else under -= 1;
  }
}
