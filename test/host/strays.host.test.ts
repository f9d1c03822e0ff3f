import { expect, test } from "bun:test";
import { chmodSync, chownSync, copyFileSync, rmSync, statSync } from "node:fs";
import { readProcesses } from "../../src/host/processes/processes.ts";
import {
  CLOSED,
  directHost,
  MANY,
  NAME,
  prepareHost,
  run,
  running,
  startAs,
  stored,
  UID,
} from "../support/direct-host.ts";
import { describeOnHost } from "../support/host-account.ts";
import { startOther } from "../support/start-other.ts";
import { until } from "../support/until.ts";

const [SECOND = ""] = MANY;
const other = stored({ name: SECOND, uid: UID + 1 });
/** Never an account's in these tests. */
const GONE = UID + 5;
const left = `/var/tmp/uam-test-left-${UID}`;

/** What has the uid in any way, by whatever listing. */
const having = (uid: number) => readProcesses().filter(({ uids }) => uids.includes(uid));

describeOnHost("processes of uids that no account has", () => {
  prepareHost();

  test("a set-uid program that a deleted account left, started by another one that is deleted, too, is ended", async () => {
    const host = await directHost();
    await host.createAccount(stored());
    await host.createAccount(other);
    try {
      // ext_b's own program, where anybody may start it.
      copyFileSync("/usr/bin/sleep", left);
      chownSync(left, other.uid, other.uid);
      chmodSync(left, 0o4755);
      expect(await host.removeAccount(other)).toEqual(CLOSED);
      expect([statSync(left).uid, await host.uidTaken(other.uid)]).toEqual([other.uid, false]);
      // As at(1) would, outside of any session.
      startAs(UID, left, "300");
      await until(() => running(other.uid) > 0);
      expect(await host.orphanUids()).toContain(other.uid);
      const [seen] = await host.endStrays([other.uid], true);
      expect(seen).toMatchObject({ uid: other.uid, ended: false });
      expect(seen?.problem).toBe(
        `1 process of uid ${other.uid}, which no account has, running "${left}", started by ${NAME}`,
      );
      expect(running(other.uid)).toBe(1);

      expect(await host.removeAccount(stored())).toEqual(CLOSED);
      // The deletion of its starter ended it. Once more, and this time nobody is left.
      startAs(UID, left, "300");
      await until(() => running(other.uid) > 0);
      const orphans = await host.orphanUids();
      expect([UID, other.uid].every((uid) => orphans.includes(uid))).toBe(true);
      expect(await host.endStrays([UID, other.uid], false)).toHaveLength(1);
      expect([running(UID), running(other.uid)]).toEqual([0, 0]);
      expect(await host.endStrays([UID, other.uid], false)).toEqual([]);
    } finally {
      rmSync(left, { force: true });
    }
  });

  test.each(["effective", "thread"])(
    "what has such a uid only in one way (%s) is seen and ended, and its starter's other processes are not",
    async (way) => {
      const host = await directHost();
      await host.createAccount(stored());
      startAs(UID, "/usr/bin/sleep", "300");
      await until(() => running() > 0);
      await startOther(way, UID, GONE);
      expect(having(GONE)).toHaveLength(1);
      expect(await host.orphanUids()).toContain(GONE);
      const [stray] = await host.endStrays([GONE], false);
      expect(stray).toMatchObject({ uid: GONE, ended: true });
      // What was killed is listed until it is reaped, and counts as its starter's where only a thread had the uid.
      await until(() => having(GONE).length === 0 && running() <= 1);
      expect(running()).toBe(1);
    },
  );

  test("a chain of forks under such a uid is ended, if need be with all that its starter runs", async () => {
    const host = await directHost();
    await host.createAccount(stored());
    await startOther("forks", UID, GONE);
    // A look may find it between two of its processes; one of the next finds it.
    await until(async () => {
      await host.endStrays([GONE], false);
      return Array.from({ length: 50 }, () => having(GONE).length).every((count) => count === 0);
    });
    expect(await host.endStrays([GONE], true)).toEqual([]);
  });

  test("processes of anybody who has an account by now, of whatever kind, are left alone", async () => {
    const host = await directHost();
    expect(run("useradd", "-M", "-u", String(UID + 2), "tperson").status).toBe(0);
    try {
      startAs(UID + 2, "/usr/bin/sleep", "300");
      await until(() => running(UID + 2) > 0);
      expect(await host.orphanUids()).not.toContain(UID + 2);
      expect(await host.endStrays([UID + 2], false)).toEqual([]);
      expect(running(UID + 2)).toBe(1);
      // Nor what nobody asked about.
      startAs(GONE, "/usr/bin/sleep", "300");
      await until(() => running(GONE) > 0);
      expect(await host.endStrays([], false)).toEqual([]);
      expect(running(GONE)).toBe(1);
    } finally {
      run("pkill", "-KILL", "-U", String(UID + 2));
      await until(() => running(UID + 2) === 0);
      run("userdel", "tperson");
    }
  });

  test("dry-run sees none", async () => {
    const host = await directHost({ mode: "dry-run" });
    startAs(GONE, "/usr/bin/sleep", "300");
    await until(() => running(GONE) > 0);
    expect([await host.orphanUids(), await host.endStrays([GONE], false)]).toEqual([[], []]);
    expect(running(GONE)).toBe(1);
  });
});
