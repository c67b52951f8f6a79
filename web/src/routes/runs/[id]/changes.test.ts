import { expect, test } from 'vitest';

import { changeOf } from './changes';

const show = (what: string, old: unknown, next: unknown) => changeOf({ what, old, new: next });

test('changes in a few words', () => {
  expect(
    show('tune', { 'trainer.learning_rate': 0.0003 }, { 'trainer.learning_rate': 0.0002 }),
  ).toBe('learning_rate 0.0003 to 0.0002');
  expect(show('create', null, null)).toBe('create');
  expect(show('stop', null, 'step 4')).toBe('stop step 4');
  expect(show('pin', null, { checkpoint: 'step_000200000' })).toBe(
    'pin: checkpoint step_000200000',
  );
});
