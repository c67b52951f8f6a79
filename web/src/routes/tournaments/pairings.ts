/** How many pairings a tournament has. */
export function nPairings(kind: 'round_robin' | 'gauntlet', nPlayers: number): number {
  if (nPlayers < 2) return 0;
  return kind === 'gauntlet' ? nPlayers - 1 : (nPlayers * (nPlayers - 1)) / 2;
}
