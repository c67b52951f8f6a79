import { expect, test } from 'vitest';

import type { Run } from '$lib/api/types';

import { controlsOf } from './controls';

const show = (state: Run['state'], ...capabilities: Run['capabilities']) =>
  controlsOf({ state, capabilities }).map(({ label, disabled }) => (disabled ? '-' : '') + label);

test('what cannot be asked now is greyed', () => {
  expect(show('queued', 'start', 'stop', 'terminate')).toEqual([
    'Start now',
    '-Checkpoint',
    'Stop',
    'Terminate',
  ]);
  expect(show('running', 'stop', 'pause', 'checkpoint', 'terminate')).toEqual([
    'Pause',
    'Checkpoint',
    'Stop',
    'Terminate',
  ]);
  expect(show('paused', 'stop', 'resume', 'checkpoint', 'terminate')).toEqual([
    'Resume',
    'Checkpoint',
    'Stop',
    'Terminate',
  ]);
  expect(show('stopping', 'terminate')).toEqual(['-Pause', '-Checkpoint', '-Stop', 'Terminate']);
  expect(show('failed', 'resume', 'delete')).toEqual(['Resume']);
  expect(show('succeeded', 'delete')).toEqual([]);
});

test('a greyed control says why, the others what they do', () => {
  const [pause, , stop] = controlsOf({ state: 'starting', capabilities: ['stop', 'terminate'] });
  expect(pause?.title).toBe('It has not started yet');
  expect(stop?.title).toBe('The last checkpoint is kept');
});
