import { expect, test } from 'vitest';

import { PAGES, markedOf, pageOf } from './pages';

test('every page has keys and an address of its own', () => {
  expect(new Set(PAGES.map(({ keys }) => keys)).size).toBe(PAGES.length);
  expect(new Set(PAGES.map(({ href }) => href)).size).toBe(PAGES.length);
});

test.each([
  ['/', 'Overview'],
  ['/lab', 'Lab'],
  ['/runs/r-000000', 'Runs'],
  ['/play/environments/h-1', 'Play'],
  ['/runsaway', undefined],
  ['/nowhere', undefined],
])('%s belongs to %s', (path, name) => {
  expect(pageOf(path)?.name).toBe(name);
});

test.each([
  ['/models/pole', 'Leaderboard'],
  ['/evaluations', 'Leaderboard'],
  ['/tournaments/r-000000', 'Leaderboard'],
  ['/audit', 'Audit'],
  ['/', 'Overview'],
  ['/nowhere', undefined],
])('%s is marked at %s', (path, name) => {
  expect(markedOf(path)?.name).toBe(name);
});
