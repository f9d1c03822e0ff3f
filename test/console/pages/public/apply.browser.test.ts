/** Applying where nobody has a sponsor. */

import { expect, test } from "bun:test";
import { PAGES } from "../../../../src/shared/product/pages.ts";
import { atRest, describeInBrowser, expectNoFaults, openPage, soon } from "../../support/browser.ts";
import { openBrowser } from "../../support/chromium.ts";
import { openConsoleApp } from "../../support/console-app.ts";
import { says } from "../../support/journeys.ts";

describeInBrowser("an application", () => {
  test.each(["off", "optional"] as const)("asks for a sponsor unless there are none: UAM_SPONSOR=%s", async (mode) => {
    const [browser, system] = await Promise.all([openBrowser(), openConsoleApp({ UAM_SPONSOR: mode })]);
    const watched = await openPage(browser, system.origin);
    const { page } = watched;
    await page.goto(PAGES.apply);
    await page.getByLabel("Purpose").waitFor();
    await atRest(page);
    await soon(async () => expect(await page.getByLabel(/^Sponsor/).count()).toBe(mode === "off" ? 0 : 1));
    await page.getByLabel("Username you would like").fill("alice");
    await page.getByLabel("E-mail address", { exact: true }).fill("alice@example.org");
    await page.getByRole("button", { name: "Send the application" }).click();
    await says(page, "Your application has arrived");
    expectNoFaults(watched);
    await Promise.all([browser.close(), system.close()]);
  });
});
