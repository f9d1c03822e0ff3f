/** The agent on a real host: a process of its own, real accounts, a real sshd that reads the lease's link, and the timer's script. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { endOf, enforce, momentOf, writeLease } from "../../src/agent/lease.ts";
import { readStatus } from "../../src/agent/status.ts";
import { readState } from "../../src/agent/store.ts";
import { openTurn, shutForGood } from "../../src/agent/turn.ts";
import { readAccounts } from "../../src/host/account.ts";
import { createHost } from "../../src/host/create-host.ts";
import { processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import { LEASE_SCRIPT } from "../../src/install/lease-script.ts";
import type { AccountState } from "../../src/protocol/fleet.ts";
import type { HostKey } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { silentLog } from "../../src/shared/log.ts";
import { removeLock, writeLock } from "../../src/shared/system/lock-journal.ts";
import { systemClock } from "../../src/shared/time/clock.ts";
import { agentProcess } from "../support/agent-process.ts";
import { cursor, type FleetStub, startFleetStub } from "../support/fleet-stub.ts";
import { HANG } from "../support/hang.ts";
import { describeOnHost, testSettings } from "../support/host-account.ts";
import { joinHost } from "../support/join-host.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";

const RUN = process.pid % 1000;
const GROUP = `uam-ext-a${RUN}`;
const NAME = `ext_tagent${RUN}`;
const OTHER = `ext_tagenu${RUN}`;
const UID = 50_000 + RUN * 4;
/** How often each end of a lease is tried, and how often the agent is killed. */
const ROUNDS = Number(process.env.UAM_TEST_LEASES ?? 2);
const KILLS = Number(process.env.UAM_TEST_KILLS ?? 12);
const LOCKS = Number(process.env.UAM_TEST_LOCKS ?? 10);
const LEASE = 4000;

describeOnHost("an agent on a real host", () => {
  let base: string;
  let directory: string;
  let files: { directory: string; target: string };
  let skew: string;
  let sshd: TestSshd;
  let stub: FleetStub;
  const agent = agentProcess(() => ({ directory, files, host: hostSettings(), skew }));
  let enforcer: ChildProcess;
  const keys: { path: string; key: HostKey }[] = [];

  setDefaultTimeout(30 * 60_000);
  beforeAll(async () => {
    base = mkdtempSync("/var/lib/uam-test-");
    chmodSync(base, 0o755);
    directory = join(base, "lib");
    files = { directory: join(base, "run"), target: join(base, "revoked") };
    skew = join(base, "skew");
    mkdirSync(directory, { mode: 0o700 });
    mkdirSync(join(base, "bin"));
    mkdirSync(join(base, "home"));
    writeFileSync(files.target, "# none\n");
    const date = `#!/bin/sh\necho $(( $(/usr/bin/date "$@") + $(cat ${skew}) ))\n`;
    writeFileSync(join(base, "bin/date"), date, { mode: 0o755 });
    sshd = await startSshd(base, [`RevokedKeys ${files.directory}/revoked-keys`]);
    for (const id of [1, 2]) keys.push(sshd.makeKey(id));
    // Of the accounts on the machine it knows this test's alone.
    mkdirSync(join(base, "root/etc"), { recursive: true });
    writeFileSync(join(base, "root/etc/passwd"), `${NAME}:x:${UID}:${UID}::/:/bin/sh\n`);
    const loop = `while :; do /bin/sh -c "$0" sh ${files.directory} ${base}/root; echo >> ${base}/passes; sleep 0.3; done`;
    const env = { PATH: `${base}/bin:/usr/sbin:/usr/bin:/sbin:/bin` };
    writeFileSync(skew, "0");
    writeFileSync(join(base, "passes"), "");
    enforcer = spawn("/bin/sh", ["-c", loop, LEASE_SCRIPT], { env, stdio: "ignore" });
  });
  beforeEach(async () => {
    writeFileSync(skew, "0");
    stub = startFleetStub();
    await joinStub();
  });
  afterEach(async () => {
    agent.kill();
    await agent.gone();
    await stub.stop();
    spawnSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true, force: true });
    rmSync(files.directory, { recursive: true, force: true });
    mkdirSync(directory, { mode: 0o700 });
    // What was killed is there for a moment still, and the next test would count it.
    await until(() => {
      const processes = readProcesses();
      const left = [0, 1, 2, 3].map((more) => UID + more).filter((uid) => processesOf(processes, uid).length > 0);
      for (const uid of left) spawnSync("pkill", ["-KILL", "-U", String(uid)]);
      return left.length === 0;
    });
    for (const name of [NAME, OTHER]) {
      if (readAccounts().passwd.has(name)) await changed("userdel", "-f", "--", name);
      rmSync(join(base, "home", name), { recursive: true, force: true });
    }
  });
  afterAll(() => {
    enforcer.kill("SIGKILL");
    sshd.stop();
    spawnSync("groupdel", [GROUP]);
    rmSync(base, { recursive: true, force: true });
  });

  async function joinStub(): Promise<void> {
    await joinHost({ directory, line: stub.line, name: "web1" });
  }

  const hostSettings = () =>
    testSettings({
      ...{ mode: "direct", homeBase: join(base, "home"), markerGroup: GROUP, tools: { sshdConfig: sshd.config } },
    });

  /** Runs a command on accounts until it has worked: it refuses while the accounts are locked, or while what a login ran is about to end. */
  const changed = (...argv: readonly [string, ...string[]]) =>
    until(() => spawnSync(argv[0], argv.slice(1)).status === 0);

  const account = (overrides: Partial<AccountState> = {}): AccountState => ({
    ...{ name: NAME, uid: UID, expire_at: "2031-03-04T12:00:00.000Z", open: true, keys: keys.map(({ key }) => key) },
    ...overrides,
  });
  const login = (index = 0, name = NAME) => sshd.login(name, keys[index]?.path ?? "");
  const running = () => processesOf(readProcesses(), UID).length;
  /** One that was killed is listed without the states until its parent asks how it ended. */
  const sleeping = () => spawnSync("pgrep", ["--runstates", "R,S,D", "-U", String(UID), "sleep"]).status === 0;
  /** Returns once the timer's script has begun and ended. */
  async function looked(): Promise<void> {
    const passes = () => statSync(join(base, "passes")).size;
    // One may be under way.
    const enough = passes() + 2;
    await until(() => passes() >= enough);
  }
  const isLinked = () => existsSync(join(files.directory, "revoked-keys"));
  /** Returns once the link stays. A script that looked before the lease was written removes it; the agent puts it back within a second. */
  async function linked(): Promise<void> {
    await looked();
    await until(isLinked);
  }
  /** Returns once the agent has asked in vain: not asked yet is a failure, too. */
  const silent = () => until(() => readStatus(files.directory)?.failure?.includes("502") === true);
  const confirmed = (id: number) => until(() => stub.reports.at(-1)?.cursor === cursor(id));
  async function opened(lease_ms = 3_600_000): Promise<void> {
    stub.tell({ full: true, accounts: [account()], lease_ms });
    agent.start();
    await confirmed(2);
    await linked();
  }

  describe("the lease", () => {
    const ways: Record<string, () => void> = {
      "the agent killed": () => agent.kill(),
      "the agent stopped": () => agent.signal("SIGSTOP"),
      "the service gone": () => {
        stub.gone = true;
      },
      "the wall clock set back a day": () => {
        agent.kill();
        writeFileSync(skew, "-86400");
      },
      "the wall clock set back a day and the agent going on": () => {
        stub.gone = true;
        writeFileSync(skew, "-86400");
      },
      "the wall clock set a day ahead": () => {
        stub.gone = true;
        writeFileSync(skew, "86400");
      },
    };
    for (const [way, cut] of Object.entries(ways)) {
      test(`with ${way}, logins work until its end and are refused from then on`, async () => {
        await opened(LEASE);
        let refused = 0;
        let admitted = 0;
        for (let round = 0; round < ROUNDS; round++) {
          await until(isLinked);
          // The script may have looked while the clock was wrong: then the agent puts the link back within a second.
          await until(() => login());
          admitted++;
          cut();
          const began = performance.now();
          while (!way.includes("ahead") && performance.now() - began < LEASE) await Bun.sleep(50);
          await looked();
          if (!login()) refused++;
          writeFileSync(skew, "0");
          // What was sent while the clock was wrong must not be answered: it would be a lease by that clock. The next to come may be that.
          const { length } = stub.requests;
          if (stub.gone) await until(() => stub.requests.length > length + 1);
          stub.gone = false;
          agent.start();
        }
        console.log(`${way}: ${admitted} of ${ROUNDS} let in before, ${refused} of ${ROUNDS} refused after`);
        expect([admitted, refused]).toEqual([ROUNDS, ROUNDS]);
      });
    }

    test("after a boot, when /run is empty, nobody is let in until the service answers", async () => {
      await opened();
      expect(login()).toBe(true);
      agent.kill();
      stub.gone = true;
      rmSync(files.directory, { recursive: true });
      agent.start();
      await silent();
      expect(login()).toBe(false);
      stub.gone = false;
      await until(isLinked);
      await linked();
      expect(login()).toBe(true);
    });

    test("a state of before, put back, opens nothing while the service is silent", async () => {
      stub.next = { lease_ms: null };
      await opened();
      expect(login()).toBe(true);
      const snapshot = join(base, "snapshot");
      cpSync(directory, snapshot, { recursive: true });
      stub.next = { lease_ms: 300_000 };
      stub.tell({ accounts: [account({ open: false, keys: [] })] });
      await confirmed(3);
      agent.kill();
      stub.gone = true;
      for (const boot of [false, true]) {
        rmSync(directory, { recursive: true });
        cpSync(snapshot, directory, { recursive: true });
        if (boot) rmSync(files.directory, { recursive: true });
        agent.start();
        await silent();
        // Longer than some comparisons take.
        await Bun.sleep(5000);
        expect([boot, login(), readAccounts().shadow?.get(NAME)?.expires]).toEqual([boot, false, 1]);
        expect(isLinked()).toBe(!boot);
        agent.kill();
      }
      rmSync(snapshot, { recursive: true });
    });

    test("a restart goes on with what is left of it", async () => {
      await opened();
      agent.terminate();
      stub.gone = true;
      expect(login()).toBe(true);
      agent.start();
      await silent();
      expect(login()).toBe(true);
    });

    test("its end ends the sessions, too, where it is to, with the agent dead", async () => {
      stub.next = { lease_ends: "sessions" };
      await opened(LEASE);
      const client = sshd.open(NAME, keys[0]?.path ?? "", "sleep 300");
      const ended = new Promise((resolve) => client.on("close", resolve));
      await until(() => sleeping());
      agent.kill();
      await ended;
      await until(() => running() === 0);
    });

    test("a hold of root's opens without agent and service, until it ends", async () => {
      await opened(LEASE);
      agent.kill();
      await until(() => !isLinked());
      expect(login()).toBe(false);
      // Whether somebody is let in shows only where all of it came before the end: on a busy machine, with a longer hold.
      for (let length = 10_000; ; length *= 2) {
        const hold = endOf(momentOf(systemClock), length, 0);
        writeLease(files, "hold", { ...hold, ends: "logins" });
        // A script that looked before the hold was written removes the link, and no agent puts it back.
        await looked();
        enforce(files, () => momentOf(systemClock));
        const isIn = login();
        const { boot, wall } = momentOf(systemClock);
        if (!isIn && (boot >= hold.boot || wall >= hold.wall) && length < HANG) continue;
        expect(isIn).toBe(true);
        await until(() => momentOf(systemClock).boot >= hold.boot);
        break;
      }
      await looked();
      expect(login()).toBe(false);
    });

    test("a key on the administrator's own list is refused while the lease lives", async () => {
      await opened();
      writeFileSync(files.target, `${keys[0]?.key.type} ${keys[0]?.key.base64}\n`);
      try {
        expect([login(0), login(1)]).toEqual([false, true]);
      } finally {
        writeFileSync(files.target, "# none\n");
      }
    });
  });

  describe("what the service orders", () => {
    test("a revoked key is refused once that is confirmed, and the other works", async () => {
      await opened();
      expect([login(0), login(1)]).toEqual([true, true]);
      stub.tell({ accounts: [account({ keys: keys.slice(1).map(({ key }) => key) })] });
      await confirmed(3);
      expect([login(0), login(1)]).toEqual([false, true]);
    });

    test("a disabled account's sessions are over when that is confirmed, and a removed one is gone", async () => {
      await opened();
      sshd.open(NAME, keys[0]?.path ?? "", "sleep 300");
      await until(() => sleeping());
      stub.tell({ accounts: [account({ open: false, keys: [] })] });
      await confirmed(3);
      expect(running()).toBe(0);
      expect(login()).toBe(false);
      stub.tell({ removed: [{ name: NAME, uid: UID }] });
      await confirmed(4);
      expect(readAccounts().passwd.has(NAME)).toBe(false);
      expect(existsSync(join(base, "home", NAME))).toBe(false);
    });

    test("of an account that somebody removed by hand, what a revoked key left running is over when that is confirmed", async () => {
      await opened();
      sshd.open(NAME, keys[0]?.path ?? "", "sleep 300");
      await until(() => sleeping());
      expect(running()).toBeGreaterThan(0);
      // From here on the agent may end it as a stray, too.
      expect(spawnSync("userdel", ["-f", "--", NAME]).status).toBe(0);
      expect(readAccounts().passwd.has(NAME)).toBe(false);
      stub.tell({ accounts: [account({ keys: keys.slice(1).map(({ key }) => key) })] });
      await confirmed(3);
      expect(running()).toBe(0);
    });

    test("a name and a uid that are somebody else's are left alone", async () => {
      await changed("useradd", "-u", String(UID + 1), "-M", NAME);
      await changed("useradd", "-u", String(UID + 2), "-M", OTHER);
      // Others make accounts of their own meanwhile.
      const entries = () =>
        readFileSync("/etc/shadow", "utf8")
          .split("\n")
          .filter((line) => line.startsWith(`${NAME}:`) || line.startsWith(OTHER));
      const before = entries();
      stub.tell({ full: true, accounts: [account(), account({ name: `${OTHER}x`, uid: UID + 2 })] });
      agent.start();
      await until(() => stub.reports.at(-1)?.problems.filter(({ kind }) => kind === "conflict").length === 2);
      expect(before).toHaveLength(2);
      expect(entries()).toEqual(before);
    });

    test("an account that somebody took out of our group is shut and removed as any other", async () => {
      await opened();
      const outside = () => changed("usermod", "-G", "", NAME);
      await outside();
      stub.tell({ accounts: [account({ keys: keys.slice(1).map(({ key }) => key) })] });
      await confirmed(3);
      expect([login(0), login(1)]).toEqual([false, true]);
      await outside();
      stub.tell({ accounts: [account({ open: false, keys: [] })] });
      await confirmed(4);
      expect(login(1)).toBe(false);
      stub.tell({ accounts: [account()] });
      await confirmed(5);
      expect([login(0), readAccounts().groups.get(GROUP)?.members.has(NAME)]).toEqual([true, true]);
      // A comparison may have found one of those before.
      await until(() => stub.reports.at(-1)?.problems.length === 0);
      const { length } = stub.reports;
      await outside();
      const isTold = () =>
        stub.reports.slice(length).some(({ problems }) => problems.some(({ text }) => text.includes("the group")));
      await until(isTold);
      await until(() => readAccounts().groups.get(GROUP)?.members.has(NAME) === true);
      await outside();
      stub.tell({ removed: [{ name: NAME, uid: UID }] });
      await confirmed(6);
      expect([readAccounts().passwd.has(NAME), existsSync(join(base, "home", NAME))]).toEqual([false, false]);
    });

    for (const [way, change, back] of [
      ["another uid", ["-u", String(UID + 1), NAME], ["-u", String(UID), NAME]],
      ["another name", ["-l", OTHER, NAME], ["-l", NAME, OTHER]],
    ] as const) {
      test(`an account that was given ${way} is not touched, and not confirmed while sshd reads its keys`, async () => {
        await opened();
        await changed("usermod", ...change);
        const name = way === "another name" ? OTHER : NAME;
        expect(login(0, name)).toBe(true);
        stub.tell({ accounts: [account({ open: false, keys: [] })] });
        await confirmed(3);
        const said = () => stub.reports.at(-1)?.problems.find((problem) => problem.account === NAME);
        expect(said()).toMatchObject({ kind: "refused", text: expect.stringContaining(`sshd reads keys of ${name}`) });
        expect(login(0, name)).toBe(true);
        // Retiring does not call it gone, either.
        stub.tell({ removed: [{ name: NAME, uid: UID }] });
        await confirmed(4);
        expect(said()?.kind).toBe("refused");
        await changed("usermod", ...back);
        await until(() => !readAccounts().passwd.has(NAME));
        await until(() => said() === undefined);
      });
    }

    test("uam lock without the service holds, and is reported", async () => {
      await opened();
      stub.gone = true;
      const id = "00000000-0000-4000-8000-00000000000a";
      const username = NAME.slice(4);
      // As the command does: a comparison that began before the lock opens again what was shut meanwhile.
      writeLock(directory, { id, at: new Date(), username, uid: UID, operator: "root" });
      const host = await createHost(hostSettings(), silentLog, bunRuntime);
      await shutForGood(host, { name: NAME, uid: UID }, { turn: openTurn(directory, bunRuntime.openKernel()) });
      await Bun.sleep(5000);
      expect(login()).toBe(false);
      stub.gone = false;
      await until(() => stub.reports.at(-1)?.locks[0]?.id === id);
      expect(login()).toBe(false);
    });

    test("uam lock in the same instant as the agent opens the account: once it has answered, nobody gets in", async () => {
      await opened();
      const host = await createHost(hostSettings(), silentLog, bunRuntime);
      const turn = openTurn(directory, bunRuntime.openKernel());
      const username = NAME.slice(4);
      for (let round = 0; round < LOCKS; round++) {
        stub.tell({ accounts: [account({ keys: keys.map(({ key }) => key).slice(0, 1 + (round % 2)) })] });
        await Bun.sleep(Math.random() * 150);
        const id = crypto.randomUUID();
        writeLock(directory, { id, at: new Date(), username, uid: UID, operator: "root" });
        const shut = await shutForGood(host, { name: NAME, uid: UID }, { turn });
        expect(shut).toEqual({ refused: true, owed: [] });
        for (let look = 0; look < 10; look++) {
          expect(readFileSync("/etc/shadow", "utf8")).toMatch(new RegExp(`^${NAME}:.*:1:$`, "m"));
          await Bun.sleep(20);
        }
        expect(login()).toBe(false);
        removeLock(directory, id);
      }
    });

    test("on a full disk what is to be shut is shut, also after a kill", async () => {
      spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", directory]);
      await joinStub();
      await opened();
      spawnSync("dd", ["if=/dev/zero", `of=${directory}/fill`, "bs=4k", "count=100"]);
      stub.tell({ accounts: [account({ open: false, keys: [] })] });
      await confirmed(3);
      expect(login()).toBe(false);
      const stored = readState(directory)?.records[0];
      expect(stored?.open ?? false).toBe(false);
      agent.kill();
      stub.gone = true;
      agent.start();
      await silent();
      await Bun.sleep(4000);
      expect(readAccounts().shadow?.get(NAME)?.expires).toBe(1);
      stub.gone = false;
      await until(() => readStatus(files.directory)?.failure === undefined);
      expect(login()).toBe(false);
    });

    test("killed anywhere, it ends in what was ordered last", async () => {
      await opened();
      let right = 0;
      for (let round = 0; round < KILLS; round++) {
        const open = round % 3 !== 1;
        const wanted = round % 2 === 0 ? keys.slice(0, 1) : keys;
        const id = 3 + round;
        const now = account({ open, keys: open ? wanted.map(({ key }) => key) : [] });
        stub.tell(round % 3 === 0 ? { full: true, accounts: [now] } : { accounts: [now] });
        await Bun.sleep((round / KILLS) * 400);
        agent.kill();
        agent.start();
        await until(() => stub.reports.some((report) => report.cursor === cursor(id) && report.problems.length === 0));
        const isRight = login(0) === open && login(1) === (open && wanted.length === 2);
        if (isRight && stub.copied === 0) right++;
      }
      console.log(`killed: ${right} of ${KILLS} right again`);
      expect(right).toBe(KILLS);
      expect(readdirSync(directory).filter((name) => name.includes("draft"))).toEqual([]);
    });
  });

  describe("on the wire", () => {
    const added = (text: string) =>
      text.replace('"accounts":[]', `"accounts":[${JSON.stringify(account({ name: OTHER, uid: UID + 1 }))}]`);
    const ways: Record<string, (answer: Response) => Promise<Response>> = {
      "an added account": async (answer) => new Response(added(await answer.text()), { headers: answer.headers }),
      "no signature": async (answer) => new Response(await answer.text()),
      "an answer cut in the middle": async (answer) => {
        const text = await answer.text();
        const half = new TextEncoder().encode(text.slice(0, text.length / 2));
        const stream = new ReadableStream({
          type: "direct",
          pull: async (controller: ReadableStreamDirectController) => {
            controller.write(half);
            await controller.flush();
            controller.close();
          },
        } as never);
        return new Response(stream, { headers: answer.headers });
      },
    };
    for (const [way, change] of Object.entries(ways)) {
      test(`${way} changes nothing, and the lease ends`, async () => {
        await opened(LEASE);
        stub.tamper = (answer, target) => (target === "/agent/state" ? change(answer) : answer);
        stub.tell({ accounts: [] });
        await until(() => readStatus(files.directory)?.failure !== undefined);
        await until(() => !isLinked());
        expect([login(), readAccounts().passwd.has(OTHER)]).toEqual([false, false]);
      });
    }
  });
});

async function until(condition: () => boolean): Promise<void> {
  const limit = performance.now() + HANG;
  while (!condition()) {
    if (performance.now() > limit) throw new Error(`never true: ${condition}`);
    await Bun.sleep(25);
  }
}
