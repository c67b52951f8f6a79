import { expect, test } from 'vitest';

import { Turns } from './turns';

/** Turns with frames that the test lets come, and drawings of two and a half milliseconds. */
function made() {
  const frames: (() => void)[] = [];
  const drawn: string[] = [];
  let now = 0;
  const turns = new Turns(
    (then) => frames.push(then),
    () => now,
  );
  const draws = (name: string) => () => {
    now += 2.5;
    drawn.push(name);
  };
  return { turns, frames, drawn, draws, frame: () => frames.shift()?.() };
}

const CHARTS = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));

test('a frame draws what fits into it, and the next goes on', () => {
  const { turns, frames, drawn, draws, frame } = made();
  for (const chart of CHARTS) turns.ask(chart, draws(chart.name));
  expect(frames).toHaveLength(1);
  frame();
  expect(drawn).toEqual(['a', 'b', 'c']);
  frame();
  expect(drawn).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(frames).toHaveLength(0);
});

test('whoever waits keeps its place, draws the newest, and may leave', () => {
  const { turns, drawn, draws, frame } = made();
  const [a, b, c, d, e] = CHARTS as [object, object, object, object, object];
  for (const [index, chart] of CHARTS.entries()) turns.ask(chart, draws(`old ${index}`));
  frame();
  // New values for all: those that have not had their turn come first.
  for (const chart of [a, b, c, d]) turns.ask(chart, draws('new'));
  turns.leave(e);
  frame();
  expect(drawn.slice(3)).toEqual(['new', 'new', 'new']);
  frame();
  expect(drawn).toHaveLength(7);
});
