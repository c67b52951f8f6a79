import { expect, test } from 'vitest';

import { decisionsOf, found, readingsOf } from './decisions';

const ENV = {
  action_names: [
    'travel to neighbour 1',
    'hold',
    'deep scan',
    'mine hard',
    'sell iron, 25%',
    'dance',
    'cash out',
    'select asteroid 1',
    'select asteroid 11',
  ],
  observation_names: [
    'fuel',
    'neighbour 1, valid',
    'neighbour 1, station',
    'neighbour 1, travel time',
    'neighbour 1, fuel',
    'unused 1',
    'price of iron',
    'asteroid 11, valid',
    'asteroid 11, iron',
  ],
};
const SEEN = [0.9, 1, 1, 1, 0.25, 0, 0.5, 1, 0.75];
const ALL = ENV.action_names.map((_, action) => action);

const lines = (groups: ReturnType<typeof decisionsOf>) =>
  groups.map(({ title, decisions }) => `${title}: ${decisions.map((one) => one.name).join('; ')}`);

test('what is legal, in groups', () => {
  expect(lines(decisionsOf(ENV, ALL, SEEN))).toEqual([
    'Move: travel to neighbour 1; hold',
    'Look: deep scan',
    'Choose: select asteroid 1; select asteroid 11',
    'Mine: mine hard',
    'Sell: sell iron, 25%',
    'End: cash out',
    'Do: dance',
  ]);
  expect(lines(decisionsOf(ENV, [1, 6], SEEN))).toEqual(['Move: hold', 'End: cash out']);
});

test('each with what is seen of its object', () => {
  const about = decisionsOf(ENV, ALL, SEEN)
    .flatMap(({ decisions }) => decisions)
    .flatMap(({ action, about }) => (about ? [[action, about]] : []));
  expect(about).toEqual([
    [0, 'station, travel time 1.00, fuel 0.25'],
    [8, 'iron 0.75'],
    [4, 'price 0.50'],
  ]);
});

test('what is typed narrows by names and groups', () => {
  const groups = decisionsOf(ENV, ALL, SEEN);
  expect(lines(found(groups, 'sel 25'))).toEqual(['Sell: sell iron, 25%']);
  expect(lines(found(groups, 'move'))).toEqual(['Move: travel to neighbour 1; hold']);
  expect(found(groups, 'nothing')).toEqual([]);
});

test('numbers of oneself and of goods, not of places', () => {
  expect(readingsOf(ENV, SEEN)).toEqual({
    own: [{ name: 'fuel', value: 0.9 }],
    goods: [{ name: 'price of iron', value: 0.5 }],
  });
});
