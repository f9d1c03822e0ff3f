import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { describeInBrowser, expectNoFaults, openPage, soon } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp } from "./support/console-app.ts";

describeInBrowser("the first page", () => {
  let system: ConsoleApp;
  let browser: Browser;
  beforeAll(async () => {
    [system, browser] = await Promise.all([openConsoleApp(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await system?.close();
  });

  test("says what this is and where to go", async () => {
    const watched = await openPage(browser, system.origin);
    await watched.page.goto("/");
    await watched.page.getByRole("heading", { level: 1 }).waitFor();
    await soon(async () =>
      expect(
        await watched.page
          .getByRole("main")
          .getByRole("link", { name: /log in/i })
          .count(),
      ).toBe(1),
    );
    expectNoFaults(watched);
    await watched.close();
  });
});

describeInBrowser("a public page", () => {
  test.each([
    ["/", "How it works", "An administrator decides, and you are told by e-mail."],
    ["/apply", "What happens next", "An administrator decides. How long that takes is up to them."],
    ["/login?as=user", "Once you are logged in", "Copy the ready ssh command."],
    ["/login?as=admin", "For administrators", "An owner invites administrators. Nobody applies for that here."],
  ])("at %s says who offers this, what it is for whom, and what comes next", async (path, title, next) => {
    const browser = await openBrowser();
    const system = await openConsoleApp({ UAM_BRAND_NAME: "Muster <b>& Söhne" });
    const watched = await openPage(browser, system.origin);
    await watched.page.goto(path);
    const main = watched.page.getByRole("main");
    await main.getByText(/Muster <b>& Söhne.? gives contractors, partners and auditors SSH accounts/).waitFor();
    await main.getByRole("region", { name: title }).getByText(next).waitFor();
    expectNoFaults(watched);
    await watched.close();
    await system.close();
    await browser.close();
  });
});
