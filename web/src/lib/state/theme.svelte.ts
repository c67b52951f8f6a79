/** Light or dark. Follows the system until the user chooses the other; see also `app.html`. */

export type ThemeName = 'light' | 'dark';

class Theme {
  /** What the page shows now; canvases depend on it to redraw. */
  current = $state<ThemeName>(shown());

  /** What the user chose; null follows the system. */
  choice = $state<ThemeName | null>(null);

  /** Reads what the boot script chose and follows the system from then on. */
  start(): () => void {
    const media = matchMedia('(prefers-color-scheme: dark)');
    this.current = shown();
    this.choice = stored();
    const follow = () => {
      if (!this.choice) this.show(system());
    };
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }

  toggle(): void {
    const next = this.current === 'dark' ? 'light' : 'dark';
    // Choosing what the system shows anyway means following it again.
    this.choose(next === system() ? null : next);
  }

  choose(choice: ThemeName | null): void {
    this.choice = choice;
    store(choice);
    this.show(choice ?? system());
  }

  private show(name: ThemeName): void {
    document.documentElement.dataset.theme = name;
    this.current = name;
  }
}

/** What the boot script has chosen; light where there is no page. */
function shown(): ThemeName {
  return globalThis.document?.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
}

function system(): ThemeName {
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function stored(): ThemeName | null {
  try {
    const kept = localStorage.getItem('theme');
    return kept === 'dark' || kept === 'light' ? kept : null;
  } catch {
    return null;
  }
}

function store(name: ThemeName | null): void {
  try {
    if (name) localStorage.setItem('theme', name);
    else localStorage.removeItem('theme');
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
}

export const theme = new Theme();
