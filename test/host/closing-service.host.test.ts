/** Eight attacks on the promise that access ends, through the whole service: what the API answers, and then real logins. */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subject } from "../long/closings/closings.ts";
import { withoutProcesses } from "../long/closings/failures.ts";
import { type Lane, makeLane } from "../long/closings/lane.ts";
import { PREPARATIONS } from "../long/closings/preparations.ts";
import { createRandom } from "../long/closings/random.ts";
import { cleanHome, makeSubject } from "../long/closings/round.ts";
import { HANG } from "../support/hang.ts";
import { hasFuse, mountFuseControl } from "../support/holding-fuse.ts";
import { describeOnHost } from "../support/host-account.ts";
import type { ServiceAnswer } from "../support/service.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(180_000);

describeOnHost("closings through the service", () => {
  let directory: string;
  let sshd: TestSshd;
  let unmountControl: () => void;
  beforeAll(async () => {
    // Not below /tmp: the way to a home must be root's alone.
    directory = mkdtempSync("/var/lib/uam-test-closings-");
    chmodSync(directory, 0o755);
    unmountControl = mountFuseControl();
    mkdirSync(join(directory, "sshd"));
    sshd = await startSshd(join(directory, "sshd"), ["UsePAM yes"]);
  });
  afterAll(() => {
    sshd?.stop();
    unmountControl?.();
    rmSync(directory, { recursive: true, force: true });
  });

  describe.each([
    ["direct", 8],
    ["sudo", 9],
  ] as const)("in %s mode", (mode, index) => {
    let lane: Lane;
    const subjects: Subject[] = [];
    const undo: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      lane = await makeLane(index, { mode, homes: "tmpfs" }, { directory, sshds: [sshd] });
    });
    afterEach(async () => {
      lane.shims.clear();
      for (const end of undo.splice(0)) await end();
      for (const subject of subjects.splice(0)) {
        await cleanHome(lane, subject);
        await lane.start();
        await lane.call("DELETE", `/users/${subject.userId}`, lane.admin());
        expect([subject.account, spawnSync("id", [subject.account]).status]).toEqual([subject.account, 1]);
      }
    });
    afterAll(async () => {
      await lane?.end();
    });

    const prepared = async (preparation: string, keys: 1 | 2 = 2): Promise<Subject> => {
      const subject = await makeSubject(lane, createRandom(1), keys);
      subjects.push(subject);
      const end = await PREPARATIONS[preparation]?.(subject);
      if (end !== undefined) undo.push(end);
      return subject;
    };
    const answered = (answer: ServiceAnswer | undefined): [number, string] => [
      answer?.status ?? 0,
      String(answer?.body.error ?? ""),
    ];
    const disable = async ({ userId }: Subject) =>
      answered(await lane.call("POST", `/users/${userId}/disable`, lane.admin()));
    const remove = async ({ userId }: Subject) => answered(await lane.call("DELETE", `/users/${userId}`, lane.admin()));
    const revoke = async ({ keyIds, session }: Subject) =>
      answered(await lane.call("DELETE", `/me/keys/${keyIds[0]}`, session));
    const status = async ({ userId }: Subject) =>
      (await lane.call("GET", `/users/${userId}`, lane.admin()))?.body.data?.status;
    /** How often a key that came back was taken out again, as recorded. */
    const repairs = async ({ userId }: Subject): Promise<number> => {
      const recorded = `subject_id = ${userId} and action = 'reconcile.repair' and detail like '%key_added%'`;
      const [row] = await lane.sql(`select count(*)::int as count from audit where ${recorded}`);
      return Number(row?.count);
    };
    const admitted = ({ account, keyPaths }: Subject) =>
      Promise.all(keyPaths.map((path) => sshd.admits(account, path)));
    /** Neither now, nor after the service has ended without a word and come back, nor once it has looked at the host. */
    const isOut = async (subject: Subject): Promise<void> => {
      expect(await admitted(subject)).not.toContain(true);
      await lane.kill();
      await lane.start();
      expect(await admitted(subject)).not.toContain(true);
      await lane.command(["reconcile"]);
      expect(await admitted(subject)).not.toContain(true);
    };

    test("1: an immutable key file", async () => {
      const subject = await prepared("an immutable file");
      const [code, error] = await disable(subject);
      // Only root may clear the attribute, and no rule of sudo's lets the service.
      if (mode === "direct") expect([code, error]).toEqual([200, ""]);
      else expect([code, error]).toEqual([500, expect.stringMatching(/is disabled, and cannot log in\. Left to do/)]);
      expect(await status(subject)).toBe("disabled");
      await isOut(subject);
    });

    test("2: a file system without a free inode, and a second name for the key file", async () => {
      const [first, second] = [await prepared("nothing"), await prepared("no free inode, and a second name")];
      expect(await disable(second)).toEqual([200, ""]);
      expect(await remove(first)).toEqual([200, ""]);
      await isOut(second);
      expect(await remove(second)).toEqual([200, ""]);
      await isOut(second);
    });

    test.if(hasFuse)("3: a mount whose name is no text", async () => {
      const subject = await prepared("a mount whose name is no text");
      const [code] = await disable(subject);
      expect([200, 500]).toContain(code);
      expect(await status(subject)).toBe("disabled");
      expect(await admitted(subject)).not.toContain(true);
      await remove(subject);
      await isOut(subject);
    });

    test.if(hasFuse)("4: a process that waits for another account's mount", async () => {
      const subject = await prepared("a wait for another account's mount");
      const [code, error] = await revoke(subject);
      expect(await sshd.admits(subject.account, subject.keyPaths[0] ?? "")).toBe(false);
      if (code !== 200) {
        expect([code, error]).toEqual([500, expect.stringContaining("could not be ended, so")]);
        expect([await status(subject), await admitted(subject)]).toEqual(["disabled", [false, false]]);
      }
    });

    test("4: a process that waits keeps the service from starting for no more than seconds", async () => {
      if (!hasFuse) return;
      const subject = await prepared("a wait for another account's mount");
      await lane.sql(`update users set expire_at = now() where id = ${subject.userId}`);
      await lane.kill();
      const begin = performance.now();
      await lane.start();
      expect(performance.now() - begin).toBeLessThan(HANG);
      // Where the service may not break the connection, it goes on about the process for long, but sshd refuses by now.
      for (let attempt = 0; attempt < 600 && (await admitted(subject)).includes(true); attempt++) await Bun.sleep(100);
      expect(await admitted(subject)).toEqual([false, false]);
    });

    test("5: no room for another process", async () => {
      const subject = await prepared("open sessions");
      const armed = await withoutProcesses(lane);
      undo.push(armed.end);
      const [code, sentence] = await revoke(subject);
      expect([0, 200, 500]).toContain(code);
      // The runtime itself may have ended for want of a thread: then nobody was answered, and the next start goes on. In sudo mode
      // the host cannot be changed at all without a process: then the answer says so.
      const isOpen = mode === "sudo" && sentence.includes("may still let them in");
      if (code !== 0 && !isOpen) expect(await sshd.admits(subject.account, subject.keyPaths[0] ?? "")).toBe(false);
      await armed.end();
      await lane.kill();
      await lane.start();
      expect(await sshd.admits(subject.account, subject.keyPaths[0] ?? "")).toBe(false);
    });

    test("6: the account tools fail for a moment during a deletion", async () => {
      const subject = await prepared("a loop that puts keys back");
      for (const command of ["usermod", "userdel"]) lane.shims.trouble(command, "fail");
      const [code, error] = await remove(subject);
      expect([code, error]).toEqual([500, expect.stringContaining("Left to do")]);
      expect(await status(subject)).toBe("disabled");
      await isOut(subject);
      lane.shims.clear();
      await lane.command(["reconcile"]);
      expect(await status(subject)).toBeUndefined();
      expect([existsSync(subject.home), spawnSync("id", [subject.account]).status]).toEqual([false, 1]);
    });

    test("a user's own lock: sessions on the host and with the service end, and the keys are out", async () => {
      const subject = await prepared("open sessions");
      expect(await admitted(subject)).toEqual([true, true]);
      const answer = await lane.call("POST", "/me/lock", subject.session);
      expect([answer?.status, answer?.body]).toEqual([200, { data: { status: "disabled" } }]);
      expect(await status(subject)).toBe("disabled");
      expect((await lane.call("GET", "/me", subject.session))?.status).toBe(401);
      // One that has ended may wait for a parent that collects it.
      const running = spawnSync("ps", ["-u", subject.account, "-o", "stat="], { encoding: "utf8" }).stdout;
      expect(running.split("\n").filter((state) => !/^(Z|$)/.test(state))).toEqual([]);
      await isOut(subject);
    });

    test("7: the only key comes back after it was revoked", async () => {
      const subject = await prepared("a crontab that puts keys back", 1);
      expect(await revoke(subject)).toEqual([200, ""]);
      expect(await admitted(subject)).toEqual([false]);
      for (const [returns, wanted] of ["active", "active", "disabled"].entries()) {
        // As cron(8) would, whose daemon does not run here.
        const file = join(subject.home, ".ssh/authorized_keys");
        writeFileSync(file, `${subject.lines[0]}\n`);
        await lane.command(["reconcile"]);
        // The service's own job may be the one that repairs it, and record it a moment after this command found nothing.
        await until(async () => (await repairs(subject)) > returns);
        expect([await admitted(subject), await status(subject)]).toEqual([[false], wanted]);
        expect(await repairs(subject)).toBe(returns + 1);
      }
      await isOut(subject);
    });
  });
});
