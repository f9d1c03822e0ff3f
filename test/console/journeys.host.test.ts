/** What people do in a real browser, from a service that has just been started to a real `ssh`. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import process from "node:process";
import type { Browser } from "playwright-core";
import { CONSOLE_BUNDLE, writeConsole } from "../../src/build/console.ts";
import { describeOnHost } from "../support/host-account.ts";
import { programs } from "../support/programs.ts";
import { expectNoFaults, openPage, type WatchedPage } from "./support/browser.ts";
import { openBrowser } from "./support/chromium.ts";
import { mouse } from "./support/hands.ts";
import { ADMIN, type HostSite, openHostSite } from "./support/host-site.ts";
import * as journey from "./support/journeys.ts";

/** With a code: the mail that welcomes a user brings only the name along, and may be the newest still. */
const LOGIN_LINK = /http:\/\/127\.0\.0\.1:\d+\/login#[^\s.]+\.\S+/;
const RESET_LINK = /http:\/\/127\.0\.0\.1:\d+\/reset#\S+/;
const isWithBrowser = () => process.env.UAM_TEST_BROWSER === "1";

function applicant(username: string): journey.Applicant {
  const email = `${username}@example.org`;
  return { username, email, supervisor: "Ada Meier", purpose: "Audit of the web servers" };
}

describeOnHost(
  "journeys in a browser",
  () => {
    let browser: Browser;
    beforeAll(async () => {
      // What runs from source reads it; the binary has its own.
      await writeConsole(CONSOLE_BUNDLE);
      browser = await openBrowser();
    });
    afterAll(() => browser?.close());

    /** Two people at two browsers. */
    async function people(site: HostSite): Promise<readonly [admin: WatchedPage, user: WatchedPage]> {
      return [await openPage(browser, site.service.origin), await openPage(browser, site.service.origin)];
    }

    async function leave(watched: readonly WatchedPage[]): Promise<void> {
      for (const page of watched) {
        expectNoFaults(page);
        await page.close();
      }
    }

    /** From an application to a session of the user who was let in. */
    async function getAccess(site: HostSite, username: string, [admin, user]: readonly [WatchedPage, WatchedPage]) {
      const who = applicant(username);
      await journey.apply(mouse(user.page), who);
      await journey.logInAsAdmin(mouse(admin.page), ADMIN.username, ADMIN.password);
      await journey.approve(mouse(admin.page), username, 14);
      await site.mailed(who.email, /\/login/);
      await logIn(site, username, user);
    }

    async function logIn(site: HostSite, username: string, user: WatchedPage): Promise<void> {
      await journey.askForCode(mouse(user.page), username);
      await journey.logInByLink(mouse(user.page), await site.mailed(applicant(username).email, LOGIN_LINK));
    }

    describe.each(Object.entries(programs()))("on %s", (name, program) => {
      const username = `tjourney${name}`;
      let site: HostSite;
      beforeAll(async () => {
        site = await openHostSite(program, [username]);
      });
      afterAll(() => site?.close());

      test("apply, approve, mail, log in, key, shell, revoke, refused", async () => {
        const [admin, user] = await people(site);
        await getAccess(site, username, [admin, user]);
        const key = site.sshd.makeKey(1).path;
        const command = await journey.addKey(mouse(user.page), `${key}.pub`, "laptop");
        expect(command).toBe(`ssh -p ${site.sshd.port} ext_${username}@127.0.0.1`);
        expect(site.admits(command, key)).toBe(true);
        await journey.revokeKey(mouse(user.page), "laptop");
        expect(site.admits(command, key)).toBe(false);
        await journey.logOut(mouse(user.page));
        await leave([admin, user]);
      });
    });

    describe("with one service", () => {
      let site: HostSite;
      beforeAll(async () => {
        site = await openHostSite(programs().binary, ["tjlocked", "tjexpired", "tjday-1", "tjday-2"]);
      });
      afterAll(() => site?.close());

      test("this was not me: the open ssh session ends, and no other begins", async () => {
        const [admin, user] = await people(site);
        await getAccess(site, "tjlocked", [admin, user]);
        const key = site.sshd.makeKey(2).path;
        const command = await journey.addKey(mouse(user.page), `${key}.pub`, "stolen");
        expect(site.admits(command, key)).toBe(true);
        const session = site.sshd.open("ext_tjlocked", key, "sleep 300");
        const ended = once(session, "close");
        await journey.shutAccount(mouse(user.page));
        await ended;
        expect(site.admits(command, key)).toBe(false);
        await leave([admin, user]);
      });

      test("an expired user: sshd refuses them, the page says what to do, more time brings them back", async () => {
        const [admin, user] = await people(site);
        await getAccess(site, "tjexpired", [admin, user]);
        const key = site.sshd.makeKey(3).path;
        const command = await journey.addKey(mouse(user.page), `${key}.pub`, "laptop");
        await site.sql("update users set expire_at = now() where username = 'tjexpired'");
        // What the service does each minute by itself, and may just have done.
        expect(site.service.run(["reconcile"]).status).toBe(0);
        expect(site.admits(command, key)).toBe(false);
        await user.page.reload();
        await journey.askForTime(mouse(user.page), 10, "One server is left");
        await journey.approveTime(mouse(admin.page), "tjexpired");
        expect(site.admits(command, key)).toBe(true);
        await leave([admin, user]);
      });

      test("an administrator's whole day", async () => {
        const admin = await openPage(browser, site.service.origin);
        const hands = mouse(admin.page);
        await journey.logInAsAdmin(hands, ADMIN.username, ADMIN.password);
        for (const name of ["tjday-1", "tjday-2"]) await journey.createUser(hands, name, `${name}@example.org`);
        await journey.extendFound(hands, "tjday", 2);
        await journey.openUser(hands, "tjday-1");
        await journey.disableUser(hands, "tjday-1");
        await journey.deleteUser(hands, "tjday-1");
        await journey.previewSetting(hands);
        await journey.filterAudit(hands, "User deleted");
        const csv = await journey.exportAudit(hands);
        expect(csv.split(/\r?\n/).filter((line) => line.includes("user.delete"))).toHaveLength(1);
        await journey.logOut(hands);
        await leave([admin]);
      });

      // The last, because the password is another one afterwards.
      test("a forgotten password", async () => {
        const admin = await openPage(browser, site.service.origin);
        const password = "nine ladders in a quiet barn";
        await journey.forgetPassword(mouse(admin.page), ADMIN.username);
        await journey.resetPassword(mouse(admin.page), await site.mailed("root@example.org", RESET_LINK), password);
        await journey.logInAsAdmin(mouse(admin.page), ADMIN.username, password);
        await leave([admin]);
      });
    });
  },
  isWithBrowser,
);
