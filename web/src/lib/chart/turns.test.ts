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
    (then) => then(),
    (then) => frames.push(then),
  );
  const draws = (name: string) => () => {
    now += 2.5;
    drawn.push(name);
  };
  return { turns, frames, drawn, draws, frame: () => frames.shift()?.() };
}

/** The same, after each of the charts was drawn once. */
function opened() {
  const all = made();
  for (const chart of CHARTS) all.turns.ask(chart, all.draws(chart.name));
  all.frame();
  all.drawn.length = 0;
  return all;
}

const CHARTS = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));

test('all that was never drawn is drawn at once, if it is not too much', () => {
  const { turns, frames, drawn, draws, frame } = made();
  for (const chart of CHARTS) turns.ask(chart, draws(chart.name));
  frame();
  expect(drawn).toEqual(['a', 'b', 'c', 'd', 'e']);
  for (let more = 0; more < 12; more += 1) turns.ask({}, draws('new'));
  frame();
  expect(drawn).toHaveLength(15);
  expect(frames).toHaveLength(1);
});

test('a frame draws what fits into it, and the next goes on', () => {
  const { turns, frames, drawn, draws, frame } = opened();
  for (const chart of CHARTS) turns.ask(chart, draws(chart.name));
  expect(frames).toHaveLength(1);
  frame();
  expect(drawn).toEqual([]);
  frame();
  expect(drawn).toEqual(['a', 'b']);
  frame();
  expect(drawn).toEqual(['a', 'b', 'c', 'd']);
  frame();
  expect(drawn).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(frames).toHaveLength(0);
});

test('whoever waits keeps its place, draws the newest, and may leave', () => {
  const { turns, drawn, draws, frame } = opened();
  const [a, b, c, d, e] = CHARTS as [object, object, object, object, object];
  for (const [index, chart] of CHARTS.entries()) turns.ask(chart, draws(`old ${index}`));
  for (let frames = 0; frames < 2; frames += 1) frame();
  // New values for all: those that have not had their turn come first.
  for (const chart of [a, b, c, d]) turns.ask(chart, draws(chart === c ? 'new c' : 'new'));
  turns.leave(e);
  frame();
  expect(drawn.slice(2)).toEqual(['new c', 'new']);
  frame();
  expect(drawn).toHaveLength(6);
});

test('what comes after all that a page draws waits for it, and may leave', () => {
  const { turns, drawn, draws, frame } = made();
  const rest: string[] = [];
  turns.afterAll(1, () => rest.push('rest'));
  const leave = turns.afterAll(1, () => rest.push('of another page'));
  leave();
  // The charts are laid out by the first frame, and too many for the second.
  for (let frames = 0; frames < 2; frames += 1) frame();
  for (let chart = 0; chart < 12; chart += 1) turns.ask({}, draws('chart'));
  while (drawn.length < 12) {
    expect(rest).toEqual([]);
    frame();
  }
  for (let frames = 0; frames < 2; frames += 1) frame();
  expect(rest).toEqual(['rest']);
});

test('the rest comes part by part, with a frame in between', () => {
  const { turns, frame } = made();
  const parts: number[] = [];
  turns.afterAll(3, (part) => parts.push(part));
  for (let frames = 0; frames < 3; frames += 1) frame();
  expect(parts).toEqual([1]);
  frame();
  expect(parts).toEqual([1, 2]);
  for (let frames = 0; frames < 5; frames += 1) frame();
  expect(parts).toEqual([1, 2, 3]);
});
