/** What axe finds on a page that keeps people from using it. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import type { Page } from 'playwright-core';

interface Violation {
  id: string;
  impact: string | null;
  nodes: { target: unknown; failureSummary: string }[];
}

let source: Promise<string> | undefined;

/** The serious and critical violations, as lines to read. */
export async function seriousViolations(page: Page): Promise<string[]> {
  source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(await source);
  const violations = await page.evaluate(async () => {
    // After a change of theme, colours that fade into each other are neither of the two.
    for (const fade of document.getAnimations()) if (fade instanceof CSSTransition) fade.finish();
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${JSON.stringify(node.target)} ${node.failureSummary}`),
    );
}
