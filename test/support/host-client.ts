/** A host that runs as another system user: calls are passed to a process of that user. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { HostSettings } from "../../src/host/settings.ts";
import type { AccountRef, Host } from "../../src/protocol/host.ts";
import type { SshSession } from "../../src/protocol/logins.ts";
import { UamError } from "../../src/shared/errors.ts";
import type { LogLine } from "./host-account.ts";

export interface RemoteHost
  extends Pick<
    Host,
    | "presence"
    | "nameTaken"
    | "createAccount"
    | "writeKeys"
    | "openAccount"
    | "shutAccount"
    | "takeKey"
    | "narrowKeys"
    | "shortenAccount"
    | "narrowProfile"
    | "holdProfiles"
    | "removeAccount"
    | "reconcile"
    | "endSession"
    | "orphanUids"
    | "endStrays"
    | "loginFaults"
  > {
  readonly pid: number | undefined;
  /** What `checkSudo` finds. Given a file, each of its pauses makes it, and lasts until it is removed. */
  check(pause?: string): Promise<readonly string[]>;
  log(): Promise<readonly LogLine[]>;
  sessions(account: AccountRef): Promise<readonly (Omit<SshSession, "since"> & { readonly since: string })[]>;
  /** The same as JSON. */
  logins(from: string): Promise<unknown>;
  /** The same as JSON. */
  refusals(account: AccountRef): Promise<unknown>;
  stop(): void;
}

type Answer = {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly code: UamError["code"] | ""; readonly message: string };
};

/** Starts the process; settings are `testSettings` with `overrides`. */
export function startHostAs(user: string, overrides: Partial<HostSettings>): RemoteHost {
  return startHost(["--reuid", user, "--regid", user, "--init-groups"], overrides);
}

/** Starts it as root without these capabilities (capabilities(7)), as a unit may leave them out: `linux_immutable`. */
export function startHostWithout(capabilities: readonly string[], overrides: Partial<HostSettings>): RemoteHost {
  return startHost(["--bounding-set", capabilities.map((name) => `-${name}`).join(",")], overrides);
}

function startHost(privileges: readonly string[], overrides: Partial<HostSettings>): RemoteHost {
  const driver = join(import.meta.dir, "host-driver.ts");
  const argv = [...privileges, "--", process.execPath, driver, JSON.stringify(overrides)];
  const child = spawn("/usr/bin/setpriv", argv, {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  let ended: string | undefined;
  child.once("exit", (code, signal) => {
    ended = `the host's process ended: ${signal ?? code}`;
    for (const [id, settle] of waiting) settle({ id, error: { code: "", message: ended } });
  });
  let last = 0;
  async function call(method: string, ...args: readonly unknown[]): Promise<unknown> {
    if (ended !== undefined) throw new Error(ended);
    const id = ++last;
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ id, method, args })}\n`);
    });
    if (answer.error === undefined) return answer.value;
    const { code, message } = answer.error;
    throw code === "" ? new Error(message) : new UamError(code, message);
  }
  const nothing = async (result: Promise<unknown>): Promise<void> => {
    await result;
  };
  return {
    pid: child.pid,
    check: (pause) => call("check", ...(pause === undefined ? [] : [pause])) as Promise<readonly string[]>,
    log: () => call("log") as Promise<readonly LogLine[]>,
    presence: (account) => call("presence", account) as ReturnType<Host["presence"]>,
    nameTaken: (name) => call("nameTaken", name) as Promise<boolean>,
    createAccount: (account) => nothing(call("createAccount", account)),
    writeKeys: (account) => nothing(call("writeKeys", account)),
    openAccount: (account) => nothing(call("openAccount", account)),
    shutAccount: (account) => call("shutAccount", account) as ReturnType<Host["shutAccount"]>,
    takeKey: (account, fingerprint) => call("takeKey", account, fingerprint) as ReturnType<Host["takeKey"]>,
    narrowKeys: (account) => call("narrowKeys", account) as ReturnType<Host["narrowKeys"]>,
    shortenAccount: (account) => call("shortenAccount", account) as ReturnType<Host["shortenAccount"]>,
    narrowProfile: (account) => call("narrowProfile", account) as ReturnType<Host["narrowProfile"]>,
    holdProfiles: (profiles, purpose) => call("holdProfiles", profiles, purpose) as ReturnType<Host["holdProfiles"]>,
    removeAccount: (account) => call("removeAccount", account) as ReturnType<Host["removeAccount"]>,
    reconcile: (accounts, checkOnly) => call("reconcile", accounts, checkOnly) as ReturnType<Host["reconcile"]>,
    sessions: (account) => call("sessions", account) as ReturnType<RemoteHost["sessions"]>,
    endSession: (account, id) => call("endSession", account, id) as ReturnType<Host["endSession"]>,
    orphanUids: () => call("orphanUids") as ReturnType<Host["orphanUids"]>,
    endStrays: (uids, checkOnly) => call("endStrays", uids, checkOnly) as ReturnType<Host["endStrays"]>,
    logins: (from) => call("logins", from),
    refusals: (account) => call("refusals", account),
    loginFaults: (account) => call("loginFaults", account) as ReturnType<Host["loginFaults"]>,
    stop: () => void child.kill("SIGKILL"),
  };
}
