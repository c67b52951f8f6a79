/** Light or dark. Follows the system until the user chooses the other; see also `app.html`. */

export type ThemeName = 'light' | 'dark';

class Theme {
  /** What the page shows now; canvases depend on it to redraw. */
  current = $state<ThemeName>('light');

  /** Reads what the boot script chose and follows the system from then on. */
  start(): () => void {
    const system = matchMedia('(prefers-color-scheme: dark)');
    this.current = document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
    const follow = () => {
      if (!stored()) this.show(system.matches ? 'dark' : 'light');
    };
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }

  toggle(): void {
    const next = this.current === 'dark' ? 'light' : 'dark';
    const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    // Choosing what the system shows anyway means following it again.
    store(next === system ? null : next);
    this.show(next);
  }

  private show(name: ThemeName): void {
    document.documentElement.dataset.theme = name;
    this.current = name;
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem('theme');
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
