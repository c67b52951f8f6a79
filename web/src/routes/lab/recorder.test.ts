import { expect, test } from 'vitest';

import { sizeOf } from './recorder.svelte';

type Shown = Parameters<typeof sizeOf>[0];

test.each([
  ['a canvas', { width: 960, height: 540 }, [960, 540]],
  // Its box is another matter.
  ['a film', { videoWidth: 640, videoHeight: 480, width: 0, height: 0 }, [640, 480]],
  ['an image', { naturalWidth: 84, naturalHeight: 84, width: 300, height: 300 }, [84, 84]],
])('the size of %s', (_, shown, size) => expect(sizeOf(shown as Shown)).toEqual(size));
