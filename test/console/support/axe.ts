/** axe in a page: what it finds against accessibility. */

import axe from "axe-core";
import type { Page } from "playwright-core";

/** The rules that look at colours: all that can change with the scheme, where styles name it for nothing else. */
export const OF_COLOURS = { type: "rule", values: ["color-contrast", "link-in-text-block"] } as const;

/** Rules by their tags, or by their names. */
export interface Rules {
  readonly type: "tag" | "rule";
  readonly values: readonly string[];
}

/** What axe finds on the page by these rules, else by all, each with the elements it is about; nothing, if all is well. */
export async function axeFinds(page: Page, rules?: Rules): Promise<readonly string[]> {
  // Its source is half a megabyte: a document gets it once, however often it is looked at. No page has frames that need it, too.
  const hasAxe = await page.evaluate(() => "axe" in globalThis);
  if (!hasAxe) await page.evaluate(axe.source);
  return await page.evaluate(
    async (runOnly) => {
      const only = runOnly === null ? {} : { runOnly };
      const { violations } = await axe.run({ ...only, resultTypes: ["violations"] });
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      // axe has no such rule any more; a label would be that of another field.
      const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
      const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
      return [...found, ...twice.map((id) => `the id ${id} is there twice`)];
    },
    rules === undefined ? null : { type: rules.type, values: [...rules.values] },
  );
}
