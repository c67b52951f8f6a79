import { expect, test } from 'vitest';

import { type View, readView, writeView } from './view';

const PLAIN: View = {
  axis: 'steps',
  weight: 0.6,
  log: false,
  zoom: null,
  full: null,
  panel: null,
  from: 'latest',
  feed: 'training',
  order: 'newest',
  find: '',
  setting: '',
  grep: '',
};

test.each([
  ['', PLAIN],
  ['?x=wall&smooth=0.9', { ...PLAIN, axis: 'wall', weight: 0.9 }],
  ['?scale=log&range=100..2000', { ...PLAIN, log: true, zoom: [100, 2000] }],
  ['?chart=train%2Floss', { ...PLAIN, full: 'train/loss' }],
  ['?panel=fork&from=4096', { ...PLAIN, panel: 'fork', from: '4096' }],
  ['?feed=policy', { ...PLAIN, feed: 'policy' }],
  ['?episodes=worst', { ...PLAIN, order: 'worst' }],
  ['?find=eval&setting=lr&grep=nan', { ...PLAIN, find: 'eval', setting: 'lr', grep: 'nan' }],
] as [string, View][])('an address and back: %s', (address, view) => {
  expect(readView(new URLSearchParams(address))).toEqual(view);
  expect(writeView(view)).toBe(address);
});

test('nonsense in an address is left out', () => {
  const view = readView(new URLSearchParams('?x=moon&smooth=a&range=9..1&panel=no&episodes=odd'));
  expect(view).toEqual(PLAIN);
});
