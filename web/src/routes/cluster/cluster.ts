/** What is at work, run by run. */
import type { Pod } from '$lib/api/types';

export interface PodGroup {
  /** None for the lab itself. */
  runId: string | null;
  pods: Pod[];
}

export const KINDS = ['lab', 'supervisor', 'trainer'] as const;

/** The lab first, then each run with its processes, in the order in which the lab tells them. */
export function groupPods(pods: readonly Pod[], kind: string | null = null): PodGroup[] {
  const groups = new Map<string | null, PodGroup>();
  for (const pod of pods) {
    if (kind && pod.kind !== kind) continue;
    const group = groups.get(pod.run_id) ?? { runId: pod.run_id, pods: [] };
    group.pods.push(pod);
    groups.set(pod.run_id, group);
  }
  return [...groups.values()];
}

/** CPU in one column: what a trainer uses now, what others have used so far. */
export function cpu(pod: Pod): string {
  if (pod.cpu_percent !== null) return `${pod.cpu_percent.toFixed(0)}%`;
  if (pod.cpu_seconds !== null) return `${pod.cpu_seconds.toFixed(1)} s used`;
  return '–';
}
