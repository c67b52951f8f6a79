/** What the command palette offers, and which of it fits what was typed. */
import type { Environment, Run } from '$lib/api/types';
import { hasEnded } from '$lib/merge';
import type { AppPage } from '$lib/pages';
import { urls } from '$lib/urls';

export const GROUPS = ['Pages', 'Actions', 'Runs', 'Environments'] as const;
export type Group = (typeof GROUPS)[number];

export interface Command {
  /** Unique among all that is offered. */
  id: string;
  group: Group;
  name: string;
  /** Muted, at the right. */
  hint: string;
  /** What is searched beside the name. */
  words?: string;
  /** The run whose colour stands before it. */
  run?: string;
  does: { href: string } | { action: string } | { verb: Verb; run: string };
  /** Asks for a second press. */
  asks?: boolean;
  /** Why it cannot be done. */
  refusal?: string | null;
  /** Offered only when something was typed. */
  hidden?: boolean;
}

export type Verb = 'pause' | 'resume' | 'stop';

/** Rows of a group on screen. */
const MOST = 6;

export function pageCommands(pages: readonly AppPage[]): Command[] {
  return pages.map(({ name, href, keys, about }) => ({
    id: `page ${href}`,
    group: 'Pages',
    name,
    hint: keys,
    words: about,
    does: { href },
  }));
}

export function runCommands(runs: Iterable<Run>, refusal: string | null): Command[] {
  return [...runs]
    .sort((a, b) => b.created_at.localeCompare(a.created_at))
    .flatMap((run) => [opens(run), ...(hasEnded(run) ? [] : steers(run, refusal))]);
}

export function environmentCommands(environments: readonly Environment[]): Command[] {
  return environments.map(({ id, name, algorithms }) => ({
    id: `environment ${id}`,
    group: 'Environments',
    name,
    hint: id,
    words: `${algorithms.join(' ')} train`,
    does: { href: urls.lab({ env: id }) },
  }));
}

/**
 * Those in which every word that was typed is found, best first within their group. Names that begin
 * with what was typed come before names that have it, and those before other places.
 */
export function search(commands: readonly Command[], typed: string): Command[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = commands
    .map((command) => ({ command, score: scoreOf(command, words) }))
    .filter(({ score }) => score > 0);
  return GROUPS.flatMap((group) =>
    scored
      .filter(({ command }) => command.group === group)
      .sort((a, b) => b.score - a.score)
      .slice(0, words.length === 0 && group === 'Pages' ? undefined : MOST)
      .map(({ command }) => command),
  );
}

function scoreOf({ name, hint, words: more, hidden }: Command, words: readonly string[]): number {
  if (words.length === 0) return hidden ? 0 : 1;
  const title = name.toLowerCase();
  const rest = `${hint} ${more ?? ''}`.toLowerCase();
  let score = 0;
  for (const word of words) {
    if (title.startsWith(word)) score += 4;
    else if (title.includes(` ${word}`)) score += 3;
    else if (title.includes(word)) score += 2;
    else if (rest.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

function opens(run: Run): Command {
  return {
    id: `run ${run.id}`,
    group: 'Runs',
    name: run.name,
    hint: `${run.id}, ${run.state}`,
    words: `${run.env_id} ${run.algorithm} ${run.kind}`,
    run: run.id,
    does: { href: urls.run(run.id) },
  };
}

function steers(run: Run, refusal: string | null): Command[] {
  const verbs = (['pause', 'resume', 'stop'] as const).filter((verb) =>
    run.capabilities.includes(verb),
  );
  return verbs.map((verb) => ({
    id: `${verb} ${run.id}`,
    group: 'Actions',
    name: `${verb[0]?.toUpperCase()}${verb.slice(1)} ${run.id}`,
    hint: run.name,
    words: `${run.env_id} ${run.algorithm}`,
    run: run.id,
    does: { verb, run: run.id },
    asks: verb === 'stop',
    refusal,
    hidden: true,
  }));
}
