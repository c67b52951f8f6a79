/**
 * Ways to the lab that can carry no header: streams, sockets, files and films. At home the cookie
 * goes along by itself. From elsewhere each takes a ticket, which opens one address once; a film,
 * which a browser asks for in pieces, is fetched as a whole.
 */
import { save } from '$lib/save';

import { api, asProblem, getFile } from './client';
import { door } from './door';
import type { Problem } from './types';

/** Calls `use` with an address of the lab that opens; at home at once. */
export function pass(
  path: string,
  use: (url: string) => void,
  refused: (problem: Problem) => void,
): void {
  if (!door.isElsewhere) return use(path);
  const url = new URL(door.url(path));
  api.post('/api/tickets', { body: { path: url.pathname } }).then(
    ({ ticket }) => {
      url.searchParams.set('ticket', ticket);
      use(url.href);
    },
    (error: unknown) => refused(asProblem(error)),
  );
}

/** The address of a socket for one that [`pass`] gave. */
export function socketUrl(url: string): URL {
  const socket = new URL(url, location.href);
  socket.protocol = socket.protocol.replace('http', 'ws');
  return socket;
}

/** Lets a `video` play a film of the lab: `<video {@attach plays(path)}>`. */
export function plays(path: string): (video: HTMLVideoElement) => (() => void) | void {
  return (video) => {
    if (!door.isElsewhere) {
      video.src = path;
      return;
    }
    const left = new AbortController();
    let blob = '';
    getFile(path, left.signal).then(
      (file) => (video.src = blob = URL.createObjectURL(file)),
      // What cannot be had cannot be played: the element says so.
      () => video.dispatchEvent(new Event('error')),
    );
    return () => {
      left.abort();
      if (blob) URL.revokeObjectURL(blob);
    };
  };
}

/** A press on a link to a file of the lab, from elsewhere: the page fetches it, or opens it by a ticket. */
export function followLink(event: MouseEvent): void {
  if (!door.isElsewhere || !(event.target instanceof Element)) return;
  const link = event.target.closest<HTMLAnchorElement>('a[href^="/api/"]');
  const path = link?.getAttribute('href');
  if (!link || !path) return;
  event.preventDefault();
  const refused = ({ title }: Problem) => (link.title = title);
  if (link.hasAttribute('download')) {
    getFile(path).then(
      (file) => save(file, link.download || file.name),
      (error: unknown) => refused(asProblem(error)),
    );
  } else pass(path, (url) => window.open(url, '_blank', 'noreferrer'), refused);
}
