/** The rooms of the app: the bar, the tab bar, “More”, the palette and the keys all read this. */
import { urls } from '$lib/urls';

export interface AppPage {
  name: string;
  href: string;
  /** The two keys that lead there. */
  keys: `g ${string}`;
  /** What is there, for the palette and “More”. */
  about: string;
  /** `bar`: always in the bar; `wide`: where there is room; `more`: behind “More” only. */
  place: 'bar' | 'wide' | 'more';
  /** The page that stands for it in the bar: its tabs lead here. */
  under?: string;
  /** In the tab bar of phones, with this picture (18 by 18). */
  icon?: string;
}

/** In the order of the bar; a page that is new adds its line. */
export const PAGES: readonly AppPage[] = [
  {
    name: 'Overview',
    href: urls.home,
    keys: 'g o',
    about: 'What is going on now',
    place: 'bar',
    icon: 'M3 3h5v5H3zM10 3h5v5h-5zM3 10h5v5H3zM10 10h5v5h-5z',
  },
  {
    name: 'Lab',
    href: urls.lab(),
    keys: 'g l',
    about: 'Train and watch an environment',
    place: 'bar',
    icon: 'M7 2.5h4M8 2.5v5L3.5 15h11L10 7.5v-5M5.5 12h7',
  },
  {
    name: 'Runs',
    href: urls.runs(),
    keys: 'g r',
    about: 'Every training and evaluation',
    place: 'bar',
    icon: 'M2.5 14.5l4-5 3 2.5 6-8',
  },
  {
    name: 'Compare',
    href: urls.compare(),
    keys: 'g c',
    about: 'Several runs over each other',
    place: 'bar',
  },
  {
    name: 'Leaderboard',
    href: urls.leaderboard(),
    keys: 'g b',
    about: 'Who is better: ratings and environment boards',
    place: 'bar',
  },
  {
    name: 'Replay',
    href: urls.replays(),
    keys: 'g e',
    about: 'Every episode, to be seen again',
    place: 'bar',
    icon: 'M5 3.5v11l9-5.5z',
  },
  {
    name: 'Play',
    href: urls.play(),
    keys: 'g p',
    about: 'Board games and environments by hand',
    place: 'bar',
    icon: 'M3 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0M9 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0M9 5a3 3 0 1 0 6 0a3 3 0 1 0-6 0',
  },
  {
    name: 'Analytics',
    href: urls.analytics(),
    keys: 'g a',
    about: 'A training in windows of steps',
    place: 'wide',
  },
  {
    name: 'Cluster',
    href: urls.cluster,
    keys: 'g k',
    about: 'What is at work on the machine',
    place: 'wide',
  },
  {
    name: 'Experiments',
    href: urls.experiments(),
    keys: 'g x',
    about: 'Templates of runs, and new ones',
    place: 'more',
  },
  {
    name: 'Evaluations',
    href: urls.evaluations(),
    keys: 'g v',
    about: 'Policies measured, players compared',
    place: 'more',
    under: urls.leaderboard(),
  },
  {
    name: 'Tournaments',
    href: urls.tournaments(),
    keys: 'g t',
    about: 'Round robins and gauntlets',
    place: 'more',
    under: urls.leaderboard(),
  },
  {
    name: 'Models',
    href: urls.models(),
    keys: 'g m',
    about: 'Policies under names, version by version',
    place: 'more',
    under: urls.leaderboard(),
  },
  {
    name: 'Audit',
    href: urls.audit(),
    keys: 'g u',
    about: 'Who changed what, and when',
    place: 'more',
  },
  {
    name: 'Settings',
    href: urls.settings,
    keys: 'g s',
    about: 'Tokens, retention, theme',
    place: 'more',
  },
];

/** The page that an address belongs to. */
export function pageOf(pathname: string): AppPage | undefined {
  return PAGES.find(({ href }) =>
    href === urls.home ? pathname === href : pathname === href || pathname.startsWith(`${href}/`),
  );
}

/** The page that is marked in the bar, or behind “More”, at an address. */
export function markedOf(pathname: string): AppPage | undefined {
  const page = pageOf(pathname);
  return page?.under ? pageOf(page.under) : page;
}
