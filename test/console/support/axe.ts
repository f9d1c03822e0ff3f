/** axe in a page: what it finds against accessibility. */

import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe finds on the page by the rules of these tags, else by all, each with the elements it is about; nothing, if all is well. */
export async function axeFinds(page: Page, tags?: readonly string[]): Promise<readonly string[]> {
  // Its source is half a megabyte: a document gets it once, however often it is looked at. No page has frames that need it, too.
  const hasAxe = await page.evaluate(() => "axe" in globalThis);
  if (!hasAxe) await page.evaluate(axe.source);
  return await page.evaluate(
    async (values) => {
      const only = values === null ? {} : { runOnly: { type: "tag" as const, values } };
      const { violations } = await axe.run({ ...only, resultTypes: ["violations"] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    },
    tags === undefined ? null : [...tags],
  );
}
