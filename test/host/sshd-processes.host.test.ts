import { afterEach, beforeEach, expect, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directEnder } from "../../src/host/execute/direct.ts";
import { endProcesses } from "../../src/host/processes/process-end.ts";
import { connectionsOf, programOf, readProcesses, unreadConnections } from "../../src/host/processes/processes.ts";
import { findConnection, listConnections, sessionIdOf } from "../../src/host/processes/ssh-sessions.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { HANG } from "../support/hang.ts";
import { describeOnHost } from "../support/host-account.ts";
import { until } from "../support/until.ts";

/** No account's; what runs as this uid is the test's. */
const UID = 48_231 + (process.pid % 100);
const ACCOUNT = { name: `ext_tproc${process.pid % 1000}`, uid: UID };
const AS_ACCOUNT = `setpriv --reuid ${UID} --regid ${UID} --clear-groups`;
const NO_JOURNAL = { entriesOf: async () => [] };

/** Processes of root's that are called as sshd's next version may call them, made of a shell under sshd's names. */
describeOnHost("sshd's processes", () => {
  let directory: string;
  let started: ChildProcess[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "uam-sshd-"));
    for (const program of ["sshd", "sshd-session"]) copyFileSync("/bin/bash", join(directory, program));
    started = [];
  });
  afterEach(async () => {
    for (const { pid } of started) spawnSync("kill", ["-KILL", "--", `-${pid}`]);
    // What was killed is there for a moment still, and the next test would take it for its own.
    await until(() => started.every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null));
    rmSync(directory, { recursive: true });
  });

  /** Starts it with something below it; gives its number. */
  async function startSshd(title: string, { program = "sshd-session", below = "sleep 320" } = {}): Promise<number> {
    const child = spawn(join(directory, program), {
      argv0: title,
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    // Not as an argument, which would be in the title.
    child.stdin?.write(`${below} </dev/null & wait; exit\n`);
    started.push(child);
    const pid = child.pid ?? 0;
    // Before it is what it runs, it is a copy of its parent, with the parent's title: a second process that cannot be told.
    const isWhatItRuns = (child: number) => programOf(child)?.startsWith(directory) === false;
    await until(() => readProcesses().some((process) => process.parent === pid && isWhatItRuns(process.pid)));
    return pid;
  }

  const ender = directEnder(bunRuntime.openKernel(), () => false);
  const end = (patience = HANG) => endProcesses(ACCOUNT, ender, { patience });
  const pids = () => connectionsOf(readProcesses(), ACCOUNT.name, ACCOUNT.uid).map(({ pid }) => pid);

  test("belong to the account that runs below them, whatever they are called", async () => {
    const pid = await startSshd("sshd-session: somebody's login", { below: `${AS_ACCOUNT} sleep 320` });
    await until(() => pids().includes(pid));
    const [connection] = await listConnections(ACCOUNT, NO_JOURNAL);
    expect(connection).toMatchObject({ isLoggedIn: true });
    expect(findConnection(ACCOUNT, connection?.id ?? "")?.pid).toBe(pid);
    await end();
    expect(pids()).toEqual([]);
  });

  test("are named where nothing tells whose they are, and nothing is taken to have ended meanwhile", async () => {
    const pid = await startSshd("sshd-session: somebody's login");
    const [unread] = unreadConnections(readProcesses());
    expect(unread?.pid).toBe(pid);
    const sentence = `sshd's process ${pid} (\\"sshd-session: somebody's login`.replaceAll("\\", "");
    await expect(listConnections(ACCOUNT, NO_JOURNAL)).rejects.toThrow(sentence);
    await expect(end(300)).rejects.toThrow(
      `It is not certain that all processes of ${ACCOUNT.name} ended: ${sentence}`,
    );
    expect(unreadConnections(readProcesses()).map((it) => it.pid)).toEqual([pid]);
  });

  test("are told by sshd's log where their title does not", async () => {
    const pid = await startSshd("sshd-session: somebody's login");
    const line = (name: string) =>
      `Accepted publickey for ${name} from 192.0.2.1 port 5 ssh2: ED25519 SHA256:${"A".repeat(43)}`;
    const journal = (name: string) => ({
      entriesOf: async () => [{ pid, uid: 0, monotonic: Number.MAX_SAFE_INTEGER, message: line(name) }],
    });
    expect(await listConnections(ACCOUNT, journal("admin"))).toEqual([]);
    const [connection, ...others] = await listConnections(ACCOUNT, journal(ACCOUNT.name));
    expect(connection?.id).toBe(sessionIdOf(unreadConnections(readProcesses())[0] ?? { started: 0, pid: 0 }));
    expect(others).toEqual([]);
  });

  test("of other accounts, a listening sshd, and what only calls itself so are nobody's login", async () => {
    await startSshd("sshd-session: admin [postauth]");
    await startSshd("sshd: something that listens", { program: "sshd" });
    await startSshd("sshd-session: strange, but somebody's", {
      below: "setpriv --reuid 48999 --clear-groups sleep 320",
    });
    const impostor = spawn("setpriv", ["--reuid", "48998", "--clear-groups", "sleep", "320"], {
      argv0: "sshd-session: impostor of nobody",
      stdio: "ignore",
      detached: true,
    });
    started.push(impostor);
    await until(() => unreadConnections(readProcesses()).length === 0);
    expect(await listConnections(ACCOUNT, NO_JOURNAL)).toEqual([]);
    await end();
    expect(started.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null, null, null]);
  });
});
