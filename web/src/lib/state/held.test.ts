import { describe, expect, test } from 'vitest';

import { Held } from './held.svelte';

const KEYS = [['ArrowLeft', 'a'], ['ArrowRight', 'd'], ['ArrowUp']];

/** Does what `steps` say, such as `+a -a`, and compares everything that was told. */
function check(steps: string, told: number[][]) {
  const heard: number[][] = [];
  const held = new Held(KEYS, (controls) => heard.push([...controls]));
  for (const step of steps.split(' ')) {
    const [what, key] = [step[0], step.slice(1)];
    if (what === '+') held.press(key);
    else if (what === '-') held.release(key);
    else if (what === 'v') held.touch(Number(key[0]), Number(key[1]));
    else if (what === '^') held.lift(Number(key));
    else held.clear();
  }
  expect(heard).toEqual(told);
}

describe('keys', () => {
  test('go down and up', () => check('+a -a', [[0], []]));
  test('several at once: the one pressed last comes last', () =>
    check('+a +d -d -a', [[0], [0, 1], [0], []]));
  test('another order, another one last', () => check('+d +a', [[1], [1, 0]]));
  test('two keys of one control hold it until both are up', () =>
    check('+ArrowLeft +a -ArrowLeft -a', [[0], []]));
  test('a control pressed again by its other key becomes the newest', () =>
    check('+a +d +ArrowLeft', [[0], [0, 1], [1, 0]]));
  test('repeats of a key that is held change nothing', () => check('+a +d +a +a', [[0], [0, 1]]));
  test('letters with Shift are the same keys', () => check('+A -a', [[0], []]));
  test('other keys are not taken', () => {
    check('+x -x', []);
    expect(new Held(KEYS).press('x')).toBe(false);
    expect(new Held(KEYS).press('D')).toBe(true);
  });
  test('blur releases all', () => check('+a +d +ArrowUp !', [[0], [0, 1], [0, 1, 2], []]));
  test('a key that goes up after a blur is forgotten', () => check('+a ! -a +a', [[0], [], [0]]));
});

describe('fingers', () => {
  test('hold a control each', () => check('v01 v12 ^1 ^2', [[0], [0, 1], [1], []]));
  test('that slide to another control move the hold', () => check('v01 v11 ^1', [[0], [1], []]));
  test('and keys go together', () => check('+a v05 -a ^5', [[0], []]));
});
