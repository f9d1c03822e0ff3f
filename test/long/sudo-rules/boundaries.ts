/**
 * Sudo compares arguments joined by blanks: it cannot tell "-d /home" from "-d" "/home". So what is cut elsewhere runs, and is run
 * here: whatever it does must stay within what the rules are to allow.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeTree } from "../../support/key-file-lab.ts";
import type { Ground } from "./grammar.ts";

/** A command that is really run. */
export interface Shift {
  readonly as: string | undefined;
  readonly argv: readonly string[];
}

const TABLES = ["passwd", "group", "shadow", "gshadow", "subuid", "subgid"].map((name) => `/etc/${name}`);

/** All ways to join arguments that stand side by side. */
export function shiftsOf({ as, argv }: Shift): readonly Shift[] {
  const [program = "", ...args] = argv;
  const shifts: Shift[] = [];
  for (let from = 0; from < args.length; from++) {
    for (let to = from + 2; to <= args.length; to++) {
      shifts.push({ as, argv: [program, ...args.toSpliced(from, to - from, args.slice(from, to).join(" "))] });
    }
  }
  return shifts;
}

/**
 * Runs it as the service's user, in a directory of that user's where whatever is not meant for a path is one. Returns what it did
 * that the rules are not to allow, a sentence each. Only its own processes are within its reach.
 */
export function runShift(user: string, ground: Ground, shift: Shift): readonly string[] {
  const { as, argv } = shift;
  const lair = join("/tmp", `uam-shift-${process.pid}`);
  rmSync(lair, { recursive: true, force: true });
  prepare(lair, argv, ground);
  const before = { tables: tables(), lair: describeTree(lair), base: entries(ground.base) };
  const target = as === undefined ? [] : ["-u", as];
  // Root's sleep stands for all of root's processes; a command that ends it has reached what is not the account's.
  const script =
    'sleep 60 & cd "$1"; shift; "$@" </dev/null >/dev/null 2>&1; kill -0 $! 2>/dev/null || echo killed; kill $! 2>/dev/null';
  const service = ["/usr/bin/setpriv", "--reuid", user, "--regid", user, "--init-groups", "--", "/usr/bin/sudo", "-n"];
  const isolated = ["--pid", "--fork", "--mount-proc", "--kill-child", "--", "/bin/sh", "-c", script, "sh", lair];
  const { stdout, error } = spawnSync("/usr/bin/unshare", [...isolated, ...service, ...target, "--", ...argv], {
    encoding: "utf8",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    timeout: 20_000,
  });
  const faults: string[] = [];
  if (error !== undefined) faults.push(String(error));
  if (stdout.includes("killed")) faults.push("a process of root's ended");
  if (describeTree(lair) !== before.lair) faults.push("a file where the service may choose the directory changed");
  faults.push(...strangers(shift, before.tables, tables(), ground));
  const added = [...entries(ground.base)].filter((name) => !before.base.has(name));
  const odd = added.filter((name) => !/^(?:ext_|\.uam-trash)/.test(name));
  faults.push(...odd.map((name) => `${JSON.stringify(name)} was made among the homes`));
  for (const name of added) rmSync(join(ground.base, name), { recursive: true, force: true });
  rmSync(lair, { recursive: true, force: true });
  return faults;
}

/** Each argument that may be a relative path leads to files of the accounts, and by a link out of there. */
function prepare(lair: string, argv: readonly string[], ground: Ground): void {
  mkdirSync(join(lair, "files"), { recursive: true });
  for (let uid = ground.uids.first; uid < ground.uids.first + 3; uid++) {
    writeFileSync(join(lair, "files", String(uid)), "precious\n");
    spawnSync("/usr/bin/chown", [String(uid), join(lair, "files", String(uid))]);
  }
  for (const argument of argv.slice(1)) {
    const path = join(lair, argument);
    if (argument.startsWith("/") || argument === "" || !path.startsWith(`${lair}/`) || path.length > 200) continue;
    try {
      mkdirSync(dirname(path), { recursive: true });
      if (argument.length % 2 === 0) symlinkSync(join(lair, "files"), path);
      else spawnSync("/usr/bin/cp", ["-a", join(lair, "files"), path]);
    } catch {
      // Another argument took its place.
    }
  }
}

function tables(): ReadonlyMap<string, readonly string[]> {
  return new Map(TABLES.map((path) => [path, readFileSync(path, "utf8").split("\n")]));
}

function entries(directory: string): ReadonlySet<string> {
  return new Set(
    spawnSync("/usr/bin/find", [directory, "-mindepth", "1", "-maxdepth", "1", "-printf", "%f\\0"], {
      encoding: "utf8",
    })
      .stdout.split("\0")
      .filter((name) => name !== ""),
  );
}

type Tables = ReturnType<typeof tables>;

/** What the command cannot have been about: accounts that other programs made meanwhile. */
function isAnothers(name: string, { argv }: Shift): boolean {
  return (
    /^(?:ext_|uam-ext)/.test(name) &&
    !argv
      .join(" ")
      .split(/[ /.,=]/)
      .includes(name)
  );
}

/**
 * Lines that came, went or changed, and are not of an account as the rules are to allow it: its name, a uid of the range, its groups,
 * its expiry and no password. Home, shell and subordinate ids are what useradd takes as they are (docs/sudo-mode.md).
 */
function strangers(shift: Shift, before: Tables, after: Tables, { uids, group }: Ground): readonly string[] {
  const faults: string[] = [];
  const members =
    (after.get("/etc/group") ?? [])
      .find((line) => line.startsWith(`${group}:`))
      ?.split(":")[3]
      ?.split(",") ?? [];
  for (const path of TABLES) {
    const [old, now] = [before.get(path) ?? [], after.get(path) ?? []];
    for (const line of now.filter((line) => !old.includes(line))) {
      if (isAnothers(line.split(":")[0] ?? "", shift)) continue;
      const [name = "", second = "", third = "", , , , , expiry = ""] = line.split(":");
      const isOurs = /^ext_[a-z0-9][a-z0-9_-]*$/.test(name);
      const inRange = Number(third) >= uids.first && Number(third) <= uids.last;
      const isRight: Readonly<Record<string, boolean>> = {
        "/etc/passwd": isOurs && inRange && members.includes(name),
        "/etc/group": (isOurs && inRange) || name === group,
        "/etc/shadow": isOurs && /^ ?[!*]/.test(second) && expiry !== "",
        "/etc/gshadow": isOurs || name === group,
      };
      if (!(isRight[path] ?? isOurs)) faults.push(`${path} got ${JSON.stringify(line)}`);
    }
    for (const line of old.filter((line) => !now.includes(line))) {
      const [name = ""] = line.split(":");
      if (!/^(?:ext_|uam-ext)/.test(name)) faults.push(`${path} lost ${JSON.stringify(line)}`);
    }
  }
  return faults;
}
