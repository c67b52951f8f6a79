/** One game as it is played: moves, take-backs and hints, one change at a time. */
import { ApiProblem, api, asProblem } from '$lib/api/client';
import type { Hint, Play, Problem, Side } from '$lib/api/types';

export class PlayedGame {
  play = $state.raw() as Play;
  sending = $state(false);
  asking = $state(false);
  problem = $state.raw<Problem | null>(null);
  hint = $state.raw<Hint | null>(null);
  /** Whether the last thing that happened is a take-back. */
  tookBack = $state(false);
  over = $derived.by(() => this.play.turn === 'over');
  canTakeBack = $derived.by(() => this.play.moves.some((move) => move.seat === this.play.seat));

  constructor(play: Play) {
    this.play = play;
  }

  async move(action: number): Promise<void> {
    const path = { id: this.play.id };
    const body = { action, ply: this.play.ply };
    this.tookBack = false;
    await this.#change(() => api.post('/api/play/{id}/moves', { path, body }));
  }

  async takeBack(): Promise<void> {
    if (!this.canTakeBack || this.sending) return;
    const path = { id: this.play.id };
    const query = { ply: this.play.ply };
    await this.#change(() => api.post('/api/play/{id}/undo', { path, query }));
    this.tookBack = this.problem === null;
  }

  /** Asks for a hint. */
  async ask(): Promise<void> {
    if (this.play.turn !== 'you' || this.asking || this.sending || this.hint) return;
    this.asking = true;
    this.problem = null;
    const { id, ply } = this.play;
    try {
      const given = await api.post('/api/play/{id}/hint', { path: { id }, query: { ply } });
      this.helped(given);
      // Whoever moved meanwhile needs it no more.
      if (this.play.ply === ply) this.hint = given;
    } catch (error) {
      const gone = error instanceof ApiProblem && error.status === 409 && this.play.ply !== ply;
      if (!gone) this.problem = asProblem(error);
    } finally {
      this.asking = false;
    }
  }

  /** Takes note of help that was given. */
  helped({ hints, help }: Pick<Play, 'hints' | 'help'>): void {
    this.play = { ...this.play, hints, help };
  }

  /** Begins another game and says which. */
  async another(opponent: string, side: Side): Promise<Play | null> {
    if (this.sending) return null;
    this.sending = true;
    this.problem = null;
    try {
      return await api.post('/api/play', { body: { game: this.play.game, opponent, side } });
    } catch (error) {
      this.problem = asProblem(error);
      return null;
    } finally {
      this.sending = false;
    }
  }

  async #change(request: () => Promise<Play>): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    this.problem = null;
    try {
      this.play = await request();
      this.hint = null;
    } catch (error) {
      this.problem = asProblem(error);
      // The game has moved on elsewhere, in another tab for one: show how it stands.
      if (error instanceof ApiProblem && error.status === 409) await this.#reload();
    } finally {
      this.sending = false;
    }
  }

  async #reload(): Promise<void> {
    try {
      this.play = await api.get('/api/play/{id}', { path: { id: this.play.id } });
      this.hint = null;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }
}
