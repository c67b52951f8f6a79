import { expect, test } from 'vitest';

import { me } from './me.svelte';

test('each role may do what those before it may', () => {
  me.current = { name: 'wall', role: 'viewer' };
  expect(me.refusal('viewer')).toBeNull();
  expect(me.refusal('operator')).toBe("Your token “wall” is a viewer's; this needs an operator's");
  expect(me.looksOnly()).toBe("Your token “wall” is a viewer's: you may look, and not act");
  me.current = { name: 'ada', role: 'admin' };
  expect(me.may('operator')).toBe(true);
  me.current = { name: 'eve', role: 'operator' };
  expect(me.refusal('admin')).toBe("Your token “eve” is an operator's; this needs an admin's");
  expect(me.looksOnly()).toBeNull();
  me.current = null;
  expect(me.refusal('viewer')).toBe('The lab has not said who you are');
});
