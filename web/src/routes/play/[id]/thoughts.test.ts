import { describe, expect, test } from 'vitest';
import type { Thoughts } from '$lib/api/types';

import { brief, marksOf, rowsOf, worthwhile } from './thoughts';

type Actions = [action: number, prior: number, visits: number][];

function thoughts(actions: Actions, chosen: number, simulations = 100): Thoughts {
  return {
    ply: 4,
    turn: 'you',
    by: { id: 'best', name: 'connect4@1' },
    value: 0.25,
    is_known: false,
    chosen: { action: chosen, name: `${chosen + 1}` },
    line: [],
    actions: actions.map(([action, prior, visits]) => ({
      action,
      name: `${action + 1}`,
      prior,
      visits,
      q: null,
      u: null,
      proven: null,
    })),
    search: { simulations, descents: 0, evaluations: 0, cache_hits: 0, proven: 0 },
    hints: 1,
    help: '1 hint',
  };
}

describe('thoughts', () => {
  test('on the board: shares of the visits, with what the network thought before it looked', () => {
    const marks = marksOf(
      thoughts(
        [
          [2, 0.5, 25],
          [3, 0.3, 75],
        ],
        3,
      ),
    );
    expect(marks.get(2)).toEqual({
      share: 0.25,
      visits: 25,
      prior: 0.5,
      isBest: false,
      spoken: '25%, 25 visits, prior 50%',
    });
    expect(marks.get(3)).toMatchObject({ share: 0.75, visits: 75, isBest: true });
    expect(marks.get(4)).toBeUndefined();
  });

  test('without a search the prior is all there is', () => {
    const marks = marksOf(thoughts([[2, 0.5, 0]], 2, 0));
    const only = { share: 0.5, visits: null, prior: 0.5, isBest: true, spoken: 'prior 50%' };
    expect(marks.get(2)).toEqual(only);
  });

  test('in the table: most visited first, then most expected', () => {
    const rows = rowsOf(
      thoughts(
        [
          [0, 0.1, 5],
          [1, 0.6, 0],
          [2, 0.2, 9],
          [3, 0.7, 0],
        ],
        2,
      ),
    );
    expect(rows.map(({ action }) => action)).toEqual([2, 0, 3, 1]);
  });

  test('are asked for in a measure that says something', () => {
    expect(worthwhile({ simulations: 0 })).toBe(200);
    expect(worthwhile({ simulations: 1600 })).toBe(1600);
    expect(worthwhile({ simulations: null })).toBeUndefined();
  });

  test('name moves as briefly as the board numbers them', () => {
    expect(brief('column 4')).toBe('4');
    expect(brief('d3')).toBe('d3');
  });
});
