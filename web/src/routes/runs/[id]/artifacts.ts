/** Doors to what other tools show of a run, and why some are shut. */
import type { Artifact, Artifacts, Entry, Run } from '$lib/api/types';

export interface Door {
  label: string;
  /** Where it leads; none while it is shut. */
  href: string | null;
  /** Why it is shut, or what it does. */
  reason: string;
  /** Whether it leaves the lab. */
  away: boolean;
}

export interface Doors {
  /** Why there is no film, where there is none. */
  video: string;
  tensorboard: Door;
  wandb: Door;
}

export function doorsOf(
  run: Pick<Run, 'id' | 'kind'>,
  tensorboard: readonly Artifact[],
  wandb: readonly Artifact[],
  found: Pick<Artifacts, 'wandb_url'> | null,
): Doors {
  const folder = (artifact: Artifact | undefined) =>
    artifact ? `/api/runs/${encodeURIComponent(run.id)}/artifacts/${artifact.id}` : null;
  const events = folder(tensorboard.at(-1));
  const page = found?.wandb_url ?? null;
  const files = folder(wandb.at(-1));
  return {
    video:
      run.kind === 'external'
        ? 'No film: its trainer kept none'
        : 'No film yet: EVALUATE makes one',
    tensorboard: {
      label: 'TensorBoard',
      href: events,
      reason: events
        ? 'Its event files as an archive, for tensorboard --logdir'
        : 'No TensorBoard events: its trainer wrote none',
      away: false,
    },
    wandb: {
      label: 'W&B',
      href: page ?? files,
      reason: page
        ? 'Its page at Weights & Biases'
        : files
          ? 'Its W&B folder as an archive, for wandb sync'
          : 'Not on W&B: its trainer told of no page',
      away: page !== null,
    },
  };
}

/** What was removed to make room, newest first. */
export function pruned(events: readonly Entry[]): Entry[] {
  return events.filter((entry) => entry.type === 'artifact_pruned').toReversed();
}
