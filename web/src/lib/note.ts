/** Keeps a part of what is shown in the address, so that it can be shared and found again. */
import { goto } from '$app/navigation';
import { page } from '$app/state';

/** Changes parts of this page's query; what is null or empty is left out. No new step to go back. */
export function note(parts: Record<string, string | null>): void {
  const url = new URL(page.url);
  for (const [name, value] of Object.entries(parts)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  void goto(url.pathname + url.search, { replaceState: true, keepFocus: true, noScroll: true });
}
