/** The pages that src/build/site makes of the documents, in a real browser, as files, without a server. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { makeSite } from "../../src/build/site/site.ts";
import { describeInBrowser, soon } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";

describeInBrowser("the documents' pages", () => {
  const output = mkdtempSync(join(tmpdir(), "uam-site-"));
  const at = (page: string) => `file://${output}/1.0.0/${page}`;
  let browser: Browser;

  beforeAll(async () => {
    await makeSite(output, "1.0.0");
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser.close();
    rmSync(output, { recursive: true });
  });

  test("words are found from any page, and lead to their section", async () => {
    const page = await browser.newPage();
    await page.goto(at("docs/decisions/sweep.html"));
    await page.getByRole("searchbox").fill("Clock CHANGES hours");
    await page.keyboard.press("Enter");
    const found = page.getByRole("link", { name: "Hours: Changes of the clock" });
    await found.waitFor();
    await soon(async () => expect(await page.getByRole("status").textContent()).toMatch(/^\d+ sections?/));
    await found.click();
    expect(page.url()).toBe(at("docs/hours.html#changes-of-the-clock"));
    await page.close();
  });

  test("what is nowhere is said, as it was typed", async () => {
    const page = await browser.newPage();
    await page.goto(`${at("search.html")}?q=${encodeURIComponent("<img src=x> quokka")}`);
    await soon(async () =>
      expect(await page.getByRole("status").textContent()).toBe("No section has “<img src=x> quokka”."),
    );
    await page.close();
  });

  test.each([320, 1280])("at %i px nothing is cut off, and axe finds no fault in either scheme", async (width) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
      for (const name of ["index.html", "search.html?q=backup"]) {
        await page.goto(at(name));
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        await page.addScriptTag({ content: axe.source });
        const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
        expect([name, colorScheme, violations.map(({ id, nodes }) => [id, nodes[0]?.html])]).toEqual([
          name,
          colorScheme,
          [],
        ]);
      }
      await page.close();
    }
  });
});
