/** How a game stands, in words. */
import type { Play } from '$lib/api/types';

/** What is on the board: whose move it is, how it ended, or where one looks. */
export function statusOf(play: Pick<Play, 'result' | 'turn' | 'ply'>, looked: number | null) {
  if (looked !== null) return looked === 0 ? 'The start' : `After move ${looked} of ${play.ply}`;
  if (play.result === 'win') return 'You won';
  if (play.result === 'loss') return 'You lost';
  if (play.result === 'draw') return 'A draw';
  return play.turn === 'you' ? 'Your move' : 'The opponent is thinking';
}

/** What has just happened. */
export function toldOf(
  play: Pick<Play, 'moves' | 'seat' | 'opponent' | 'result'>,
  looked: number | null,
  tookBack: boolean,
): string {
  const whose = (seat: number) => (seat === play.seat ? 'You' : play.opponent.name);
  const seen = looked === null ? undefined : play.moves[looked - 1];
  if (looked !== null) return seen ? `${whose(seen.seat)} played ${seen.name}` : '';
  if (tookBack) return 'Taken back';
  const answer = play.moves.findLast((move) => move.seat !== play.seat);
  return play.result === null && answer ? `${play.opponent.name} played ${answer.name}` : '';
}

/** How it ended, with the help that was taken. */
export function resultOf({ result, opponent, help }: Pick<Play, 'result' | 'opponent' | 'help'>) {
  if (result === null) return '';
  const how = {
    win: 'You won',
    loss: `${opponent.name} won`,
    draw: 'Nobody won: a draw',
  }[result];
  return `${how}${help ? `, ${help}` : ''}.`;
}
