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
  /** Whether there is something to be shown, and what happens then, or why there is not. */
  tensorboard: { isOpen: boolean; reason: string };
  wandb: Door;
}

export function doorsOf(
  run: Pick<Run, 'id' | 'kind' | 'wandb'>,
  tensorboard: readonly Artifact[],
  wandb: readonly Artifact[],
  found: Pick<Artifacts, 'wandb_url'> | null,
): Doors {
  const folder = (artifact: Artifact | undefined) =>
    artifact ? `/api/runs/${encodeURIComponent(run.id)}/artifacts/${artifact.id}` : null;
  const page = [run.wandb?.url, found?.wandb_url].find(isPage) ?? null;
  const files = folder(wandb.at(-1));
  return {
    video:
      run.kind === 'external'
        ? 'No film: its trainer kept none'
        : 'No film yet: EVALUATE makes one',
    tensorboard: {
      isOpen: tensorboard.length > 0,
      reason:
        tensorboard.length > 0
          ? 'Starts TensorBoard for this run, on the machine of the lab'
          : 'No TensorBoard events yet: they come with the first metrics',
    },
    wandb: {
      label: 'W&B',
      href: page ?? files,
      reason: page
        ? 'Its page at Weights & Biases'
        : files
          ? 'Its W&B folder as an archive, for wandb sync'
          : run.kind === 'external'
            ? 'Not on W&B: its trainer told of no page'
            : 'Enable --track and log in to use W&B',
      away: page !== null,
    },
  };
}

/** Whether an address is one of a page; whoever names it might name anything. */
function isPage(address: string | null | undefined): address is string {
  return /^https?:\/\//.test(address ?? '');
}

/** What was removed to make room, newest first. */
export function pruned(events: readonly Entry[]): Entry[] {
  return events.filter((entry) => entry.type === 'artifact_pruned').toReversed();
}
