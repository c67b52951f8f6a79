/** Tokens and retention in words. */
import type { Role, Storage, Token } from '$lib/api/types';
import { bytes, count, duration } from '$lib/format';

export const ROLES: readonly { role: Role; may: string }[] = [
  { role: 'viewer', may: 'Looks at everything but tokens, and changes nothing.' },
  { role: 'operator', may: 'Also makes, steers, archives and deletes runs, and plays.' },
  { role: 'admin', may: 'Also makes and revokes tokens, and tidies up.' },
];

const DAY_S = 86_400;

export const LIVES: readonly { name: string; seconds: number | null }[] = [
  { name: '1 hour', seconds: 3600 },
  { name: '1 day', seconds: DAY_S },
  { name: '30 days', seconds: 30 * DAY_S },
  { name: '1 year', seconds: 365 * DAY_S },
  { name: 'ever', seconds: null },
];

/** Until when a token is good. */
export function ends({ expires_at, is_expired }: Token, nowMs: number): string {
  if (expires_at === null) return 'does not end';
  if (is_expired) return 'has ended';
  return `ends in ${duration((Date.parse(expires_at) - nowMs) / 1000)}`;
}

/** The limits as rows: what, how much, and of what; those that are not set say so. */
export function limitRows(limits: Storage['limits']): { name: string; value: string }[] {
  const newest = (n: number | null | undefined) => (n == null ? 'all' : `newest ${count(n)}`);
  return [
    { name: 'Checkpoints of a run', value: newest(limits.keep_checkpoints) },
    { name: 'Videos of a run', value: newest(limits.keep_videos) },
    { name: 'TensorBoard folders', value: newest(limits.keep_tensorboard_runs) },
    { name: 'Runs of an experiment', value: newest(limits.keep_runs_per_experiment) },
    { name: 'Runs of an algorithm', value: newest(limits.keep_runs_per_agent) },
    {
      name: 'Milestones',
      value:
        limits.milestone_every_steps == null
          ? 'none'
          : `every ${count(limits.milestone_every_steps)} steps`,
    },
    {
      name: 'Everything',
      value: limits.max_bytes == null ? 'no limit' : bytes(limits.max_bytes).join(' '),
    },
  ];
}
