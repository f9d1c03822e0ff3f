import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { atRest, describeInBrowser, expectNoFaults, openPage, soon } from "./support/browser.ts";
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

  test.each(["/", "/apply", "/login"])(
    "at %s nothing moves once it is seen, and what it shows is asked for once",
    async (path) => {
      await system.admin();
      for (const width of [412, 1280]) {
        const watched = await openPage(browser, system.origin, { viewport: { width, height: 823 } });
        const { page } = watched;
        const asked: string[] = [];
        page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
        await page.addInitScript(() => {
          const moved: string[] = [];
          Object.assign(globalThis, { moved });
          new PerformanceObserver((list) => {
            for (const shift of list.getEntries()) moved.push(JSON.stringify(shift));
          }).observe({ type: "layout-shift", buffered: true });
          // However slow this machine is, the answer is waited for.
          const later = setTimeout;
          Object.assign(globalThis, {
            setTimeout: (work: () => void, time?: number) => (time === 1000 ? 0 : later(work, time)),
          });
        });
        await page.goto(path);
        await page.getByRole("contentinfo").getByText("uam 0.0.0-test").waitFor();
        await page.locator("h1[tabindex]").waitFor();
        await atRest(page);
        expect(await page.evaluate(() => (globalThis as unknown as { moved: string[] }).moved)).toEqual([]);
        expect(asked.filter((one) => one === "/api/v1/console/config")).toHaveLength(1);
        expectNoFaults(watched);
        await watched.close();
      }
    },
  );

  test("is shown without what the service says of itself, where that does not come", async () => {
    const watched = await openPage(browser, system.origin);
    await watched.page.route("**/console/config", () => {});
    await watched.page.goto("/");
    await watched.page.getByRole("heading", { level: 1, name: "SSH access for a limited time" }).waitFor();
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
