/** `bun run pictures`: pictures of the main views for the documents, in both schemes, of a service that has been in use for a while. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { PAGES } from "../../src/shared/product/pages.ts";
import { HOUR, MINUTE, shift } from "../../src/shared/time/clock.ts";
import { type Client, loginUser } from "../support/app.ts";
import { stopTestServer } from "../support/database.ts";
import { insertHost } from "../support/host-rows.ts";
import { freshKey } from "../support/keys.ts";
import { atRest } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { type ConsoleApp, openConsoleApp, openSignedIn } from "./support/console-app.ts";
import { PICTURES, PLACE, SCHEMES, type View } from "./support/picture-list.ts";

const DAY = 86_400_000;
const WIDTH = 1280;
const HEIGHT = 800;

interface Picture {
  readonly name: string;
  readonly view: View;
  readonly scheme: (typeof SCHEMES)[number];
  readonly userId: number;
}

async function take(page: Page, { name, view, scheme, userId }: Picture): Promise<void> {
  await page.setViewportSize({ width: WIDTH, height: HEIGHT });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  await page.goto(PAGES[view.page].replace(":id", String(userId)));
  await page.getByRole("heading", { level: 1 }).waitFor();
  await atRest(page);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 75 });
  await session.detach();
  const bytes = Buffer.from(data, "base64");
  writeFileSync(join(PLACE, `${name}-${scheme}.webp`), bytes);
  console.log(`${name}-${scheme}.webp ${(bytes.byteLength / 1000).toFixed(0)} kB`);
}

const PEOPLE = [
  ["ines", "Inês Duarte", "Ada Meier", "Pentest of the booking service"],
  ["jakub", "Jakub Nowak", "Bo Lindqvist", "Migration of the mail servers"],
  ["leila", "Leila Haddad", "Ada Meier", "Yearly security audit"],
  ["marek", "Marek Svoboda", "Chen Wei", "Support for the data warehouse"],
  ["noor", "Noor de Vries", "Chen Wei", "Monitoring of the new cluster"],
  ["oskar", "Oskar Lund", "Bo Lindqvist", "Firmware of the storage"],
  ["pilar", "Pilar Ortega", "Ada Meier", "Review of the backups"],
  ["quentin", "Quentin Moreau", "Chen Wei", "Load test before the release"],
] as const;

/** Eight weeks of work; returns the user whose page is shown. */
async function fill(system: ConsoleApp): Promise<number> {
  let shown = 0;
  for (const [index, [username, full_name, supervisor, purpose]] of PEOPLE.entries()) {
    const admin = await system.admin();
    const body = {
      username,
      email: `${username}@example.org`,
      full_name,
      supervisor,
      purpose,
      ttl_days: 45 + index * 9,
    };
    const { body: answer } = await admin.call("POST", "/users", body);
    if (username === "leila") shown = answer.data.id;
    if (username === "oskar") await admin.call("POST", `/users/${answer.data.id}/disable`);
    system.clock.advance(4 * DAY);
  }
  for (const [username, keys] of [
    ["ines", ["laptop", "workstation"]],
    ["leila", ["yubikey", "laptop"]],
  ] as const) {
    const client = await signIn(system, username);
    for (const name of keys) await client.call("POST", "/me/keys", { name, public_key: freshKey() });
  }
  for (const [username, purpose] of [
    ["rania", "Access review of the billing hosts, two weeks"],
    ["stefan", "Upgrade of the database servers together with Bo"],
    ["tomas", "Forensics after the incident in March"],
  ] as const) {
    const body = { username, email: `${username}@example.org`, supervisor: "Bo Lindqvist", purpose };
    await system.anonymous().call("POST", "/approvals", body);
    system.clock.advance(DAY / 3);
  }
  return shown;
}

/** A handful of hosts, most of which are well. */
async function addHosts(system: ConsoleApp): Promise<void> {
  const admin = await system.admin();
  const now = system.clock.now();
  for (const [name, lease] of [
    ["web", "1h"],
    ["database", "30m"],
  ] as const) {
    await admin.call("POST", "/host-groups", { name, lease });
  }
  const soon = { leaseUntil: shift(now, 0.9 * HOUR), lastSeenAt: shift(now, -MINUTE / 2) };
  for (const name of ["web1", "web2", "web3"]) await insertHost(system, name, { groups: ["web"], ...soon });
  await insertHost(system, "db1", { groups: ["database"], ...soon, leaseUntil: shift(now, HOUR / 2) });
  await insertHost(system, "db2", { groups: ["database"], ...soon, clockOffsetMs: -75_000 });
  await insertHost(system, "backup", { lastSeenAt: shift(now, -6 * HOUR), leaseUntil: shift(now, -2 * HOUR) });
  await insertHost(system, "build", { ...soon, status: "locked" });
  await insertHost(system, "lab", { ...soon, leaseMs: 0 });
}

async function signIn(system: ConsoleApp, username: string): Promise<Client> {
  system.clock.advance(DAY);
  return await loginUser(system.system, system.app, username);
}

if (import.meta.main) {
  const [system, browser] = await Promise.all([openConsoleApp({ UAM_CONTACT: "it@example.org" }), openBrowser()]);
  try {
    const userId = await fill(system);
    const admin = await openSignedIn(browser, system, "admin");
    const user = await openSignedIn(browser, system, { user: "ines" });
    mkdirSync(PLACE, { recursive: true });
    for (const [name, view] of Object.entries(PICTURES)) {
      if (name === "hosts") {
        await addHosts(system);
        await admin.page.clock.setFixedTime(system.clock.now());
      }
      const { page } = view.who === "admin" ? admin : user;
      for (const scheme of SCHEMES) await take(page, { name, view, scheme, userId });
    }
  } finally {
    await browser.close();
    await system.close();
    await stopTestServer();
  }
}
