/**
 * Who looks at these pages, and what they may do. A page disables what its viewer may not do and
 * says why; the lab refuses it in any case.
 *
 *     <button disabled={me.refusal('operator') !== null} title={me.refusal('operator') ?? 'Stop it'}>
 */
import type { Me, Role } from '$lib/api/types';

const RANK: Record<Role, number> = { wandb: -1, viewer: 0, operator: 1, admin: 2 };

class WhoAmI {
  /** None before anybody has logged in. */
  current = $state.raw<Me | null>(null);

  may(role: Role): boolean {
    return this.current !== null && RANK[this.current.role] >= RANK[role];
  }

  /** Why something that needs a role cannot be done; null when it can. */
  refusal(role: Role): string | null {
    if (this.may(role)) return null;
    if (this.current === null) return 'The lab has not said who you are';
    const { name, role: own } = this.current;
    return `Your token “${name}” is ${withArticle(own)}'s; this needs ${withArticle(role)}'s`;
  }

  /** What somebody who may only look is told in the frame; null for all others. */
  looksOnly(): string | null {
    if (this.current?.role !== 'viewer') return null;
    return `Your token “${this.current.name}” is a viewer's: you may look, and not act`;
  }
}

function withArticle(role: Role): string {
  return `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`;
}

export const me = new WhoAmI();
