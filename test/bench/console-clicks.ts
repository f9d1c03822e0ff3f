/** From a click to the rows of a large table: the audit log and the users, as an administrator sees them. */

import type { Browser, Page } from "playwright-core";
import { bundleConsole } from "../../src/build/console.ts";
import { createConsole } from "../../src/server/console/console.ts";
import { ADMIN_PASSWORD, createTestApp } from "../support/app.ts";
import { fillUsers, openFilled, percentile } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

const USERS = 100_000;
const CLICKS = 20;

/** Prints the median and the slowest of each kind of click. */
export async function benchClicks(browser: Browser, { rows }: BenchOptions): Promise<void> {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: () => new Response(null, { status: 503 }),
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const pages = createConsole(await bundleConsole());
  const app = await openFilled(rows, () => createTestApp({ UAM_BASE_URL: origin }, { pages }));
  try {
    await fillUsers(app, USERS);
    server.reload({ fetch: (request) => app.app.fetch(request, "127.0.0.1") });
    await app.admin();
    const page = await signedIn(browser, origin);
    for (const [what, address, link] of [
      [`audit log of ${rows.toLocaleString("en")}`, "/admin/audit", "Audit log"],
      [`users, ${USERS.toLocaleString("en")}`, "/admin/users", "Users"],
    ] as const) {
      report(`${what}: opened from the menu`, await times(() => openFromMenu(page, origin, link)));
      await page.goto(origin + address);
      report(`${what}: next page`, await times(() => untilRows(page, "main a", "Next page")));
      await page.goto(`${origin}${address}?page=${(await lastPage(page, origin + address)) - CLICKS - 1}`);
      report(`${what}: next page, at the end`, await times(() => untilRows(page, "main a", "Next page")));
    }
    await page.context().close();
  } finally {
    await server.stop(true);
    await app.close();
  }
}

async function signedIn(browser: Browser, origin: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
  const page = await context.newPage();
  await page.goto(origin);
  const body = JSON.stringify({ username: "admin", password: ADMIN_PASSWORD });
  const status = await page.evaluate(
    `fetch("/api/v1/auth/admin/login", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(body)} })
      .then(({ status }) => { localStorage.setItem("session", "open"); return status; })`,
  );
  if (status !== 200) throw new Error(`The administrator cannot log in: ${status}`);
  return page;
}

/** From a page without a list, so that nothing of it is cached but its script. */
async function openFromMenu(page: Page, origin: string, link: string): Promise<number> {
  await page.goto(`${origin}/admin/account`);
  await page.locator("header nav a").filter({ hasText: link }).waitFor();
  return await untilRows(page, "header nav a", link);
}

/** Milliseconds from the click until other rows than before are painted. */
async function untilRows(page: Page, selector: string, text: string): Promise<number> {
  await page.locator(selector).filter({ hasText: text }).first().waitFor();
  return (await page.evaluate(`new Promise((resolve) => {
    const rows = () => document.querySelector("main tbody")?.textContent ?? "";
    const before = rows();
    const began = performance.now();
    [...document.querySelectorAll(${JSON.stringify(selector)})].find((link) => link.textContent.includes(${JSON.stringify(text)})).click();
    const look = () => {
      const isThere = rows() !== "" && rows() !== before && document.querySelector("main .older") === null;
      if (isThere) resolve(performance.now() - began);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  })`)) as number;
}

/** The number of the last page of a list. */
async function lastPage(page: Page, address: string): Promise<number> {
  await page.goto(address);
  const text = (await page.locator(".pager span").textContent()) ?? "";
  const [first = 0, last = 0, total = 0] = (text.replaceAll(",", "").match(/\d+/g) ?? []).map(Number);
  return Math.ceil(total / (last - first + 1));
}

async function times(click: () => Promise<number>): Promise<readonly number[]> {
  const all: number[] = [];
  for (let turn = 0; turn < CLICKS; turn++) all.push(await click());
  return all;
}

function report(what: string, all: readonly number[]): void {
  const [middle, most] = [percentile(all, 0.5), percentile(all, 1)];
  console.log(`${what.padEnd(52)} ${middle.toFixed(0)} ms, at most ${most.toFixed(0)} ms (aim 300 ms)`);
}
