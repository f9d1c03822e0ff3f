/** The uid under which the PostgreSQL server runs, and the paths that it can reach. */

import { spawnSync } from "node:child_process";
import { existsSync, lchownSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { UamError } from "../../shared/errors.ts";
import { SWEEP_UID } from "../../shared/system/kernel.ts";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

// Debian reserves 65000-65533 and systemd's table of uids lists 65520-65533 as unused: no tool ever gives one out, and
// a container that maps only 65536 ids still has them. The last is the sweep's: processes with that uid are killed.
export const SERVER_UIDS = { first: 65_520, last: SWEEP_UID - 1 } as const;

// System accounts that exist on every distribution and rarely run anything.
const initialisers = ["nobody", "games", "news", "uucp", "irc", "list", "daemon", "bin"];

/** Whether this process may act under another uid. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Uid and gid that own `path`, links followed. */
export function ownerOf(path: string): Owner {
  const { uid, gid } = statSync(path);
  return { uid, gid };
}

/** The uid this process runs under. */
export function ownIdentity(): Owner {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/**
 * The uid for a new data directory: our own, or as root the account uam-postgres if there is one, else a uid without a
 * name, preferably one no process has. `nobody` would let every daemon of that name read and trace the server.
 */
export function chooseServerOwner(): Owner {
  if (!isRoot()) return ownIdentity();
  const accounts = readAccounts();
  const own = accounts.find((account) => account.name === "uam-postgres");
  if (own !== undefined && own.uid !== 0) return { uid: own.uid, gid: own.gid };
  const named = new Set([...accounts.map((account) => account.uid), ...readGroupIds()]);
  const { first, last } = SERVER_UIDS;
  const range = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const free = range.filter((uid) => !named.has(uid));
  const busy = runningUids();
  // With more servers on a host than uids, two of them share one: still nobody but uam.
  const uid = free.find((candidate) => !busy.has(candidate)) ?? free[0];
  if (uid !== undefined) return { uid, gid: uid };
  throw new UamError(
    "internal",
    `Every uid from ${first} to ${last} has a name; create a system account "uam-postgres" for the database.`,
  );
}

/**
 * The uid that may run initdb for `server`: initdb refuses a uid without a name, so root lends it a system account with
 * no process running, in a directory only root can enter, and hands the result over afterwards.
 */
export function chooseInitialiser(server: Owner): Owner {
  const accounts = readAccounts();
  if (!isRoot() || accounts.some((account) => account.uid === server.uid)) return server;
  const busy = runningUids();
  const known = initialisers.flatMap((name) => accounts.find((account) => account.name === name && account.uid) ?? []);
  const chosen = known.find((account) => !busy.has(account.uid)) ?? known[0];
  if (chosen === undefined) {
    throw new UamError(
      "internal",
      'No account to initialise the database with; create a system account "uam-postgres".',
    );
  }
  return { uid: chosen.uid, gid: chosen.gid };
}

/** Names of the accounts that may connect: root, this process, and the owner of the server where they have a name. */
export function servedAccounts(server: Owner): readonly string[] {
  const accounts = readAccounts();
  const wanted = new Set([0, server.uid]);
  const names = new Set(accounts.filter((account) => wanted.has(account.uid)).map((account) => account.name));
  return [...names.add(ownName(accounts))].sort();
}

/** Gives `path` and everything below it to `owner`; links are changed, never followed. */
export function handOver(path: string, owner: Owner): void {
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    lchownSync(join(entry.parentPath, entry.name), owner.uid, owner.gid);
  }
  lchownSync(path, owner.uid, owner.gid);
}

/** Whether `owner` can pass through every directory down to and including `path`, by the modes. */
export function canEnter(owner: Owner, path: string): boolean {
  const { uid, gid, mode } = statSync(path);
  const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  const real = realpathSync(path);
  return real === "/" || canEnter(owner, dirname(real));
}

/**
 * How to start a program as `owner`: the prefix of its argv, and options for `spawn`. With `deathSignal` the kernel sends it when
 * this process dies (prctl(2), PR_SET_PDEATHSIG); only the setpriv of util-linux can do that, and nothing is lost without it.
 */
export function commandPrefix(owner: Owner, deathSignal: "INT" | "KILL" | undefined): CommandPrefix {
  const { uid, gid } = owner;
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));
  if (setpriv === undefined || basename(realpathSync(setpriv)) !== "setpriv") {
    return { argv: [], identity: isRoot() ? { uid, gid } : {} };
  }
  const identity = isRoot() ? [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"] : [];
  const death = deathSignal === undefined ? [] : [`--pdeathsig=${deathSignal}`];
  return { argv: [setpriv, ...identity, "--no-new-privs", ...death], identity: {} };
}

export interface CommandPrefix {
  readonly argv: readonly string[];
  readonly identity: { readonly uid?: number; readonly gid?: number };
}

interface Account extends Owner {
  readonly name: string;
}

// os.userInfo() of Bun believes $USER, and the account named here may connect: ask the host instead.
function ownName(accounts: readonly Account[]): string {
  const { uid } = ownIdentity();
  const local = accounts.find((account) => account.uid === uid);
  if (local !== undefined) return local.name;
  const answer = spawnSync("id", ["-un"], { encoding: "utf8", env: { PATH: "/usr/bin:/bin" } });
  if (answer.status === 0) return answer.stdout.trim();
  const message = `Uid ${uid} has no user name, and PostgreSQL needs one; add it to /etc/passwd, or set UAM_DATABASE_URL.`;
  throw new UamError("internal", message);
}

function readAccounts(): readonly Account[] {
  return readDatabase("/etc/passwd").map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}

function readGroupIds(): readonly number[] {
  return readDatabase("/etc/group").map(([, , gid]) => Number(gid));
}

function readDatabase(path: string): readonly (readonly string[])[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => /^[^#:+-][^:]*:/.test(line)).map((line) => line.split(":"));
}

function runningUids(): ReadonlySet<number> {
  const uids = new Set<number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stats = statSync(`/proc/${name}`, { throwIfNoEntry: false });
    if (stats !== undefined) uids.add(stats.uid);
  }
  return uids;
}
