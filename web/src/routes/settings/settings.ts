/** Tokens in words. */
import type { Role, Token } from '$lib/api/types';
import { duration } from '$lib/format';

export const ROLES: readonly { role: Role; may: string }[] = [
  { role: 'viewer', may: 'Looks at everything but tokens, and changes nothing.' },
  { role: 'operator', may: 'Also makes, steers, archives and deletes runs, and plays.' },
  { role: 'admin', may: 'Also makes and revokes tokens, changes these settings, and tidies up.' },
  {
    role: 'wandb',
    may: 'A key for wandb clients: keeps and reads their runs here, and nothing else.',
  },
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
