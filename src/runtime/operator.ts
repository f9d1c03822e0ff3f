/** The person who runs the program, for the audit log. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isPrintable } from "../shared/text/text.ts";

/** An account of this host, local or known to its name service. */
export interface HostUser {
  readonly name: string;
  readonly uid: number;
}

/** The known facts about the person who runs the program. */
export interface Caller {
  readonly uid: number | undefined;
  /** The content of /proc/self/loginuid; undefined if the kernel keeps none. */
  readonly loginUid: string | undefined;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Finds an account by name, or by uid in decimal. */
  readonly find: (key: string) => HostUser | undefined;
}

/** The account that the service runs as if that is not root; only root can switch to it. */
const SERVICE_ACCOUNT = "uam";
/** pam_loginuid(8): this was not started from a login. */
const NO_LOGIN = "4294967295";

/**
 * The account that logged in, as the kernel remembers it through every sudo(8) and su(1); else the account before sudo, which root can set
 * freely, but only to a real account; else the account that this process runs as.
 */
export function operatorOf({ uid, loginUid, variables, find }: Caller): HostUser {
  const named = (key: string | undefined) => {
    const user = key === undefined || key === "" ? undefined : find(key);
    return user === undefined || !isPrintable(user.name) ? undefined : user;
  };
  const login = loginUid?.trim();
  if (login !== undefined && login !== NO_LOGIN && /^\d+$/.test(login)) return named(login) ?? nameless(Number(login));
  const own = named(String(uid));
  if (uid === 0 || own?.name === SERVICE_ACCOUNT) {
    const before = [variables.SUDO_UID, variables.SUDO_USER]
      .filter((key) => key !== undefined && key !== "")
      .map(named);
    const [first] = before;
    if (first !== undefined && before.every((user) => user?.uid === first.uid)) return first;
  }
  return own ?? nameless(uid ?? -1);
}

function nameless(uid: number): HostUser {
  return { name: `uid ${uid}`, uid };
}

/** /proc/self/loginuid; undefined on a kernel without auditing. */
export function readLoginUid(): string | undefined {
  try {
    return readFileSync("/proc/self/loginuid", "utf8");
  } catch {
    return undefined;
  }
}

/** Looks into /etc/passwd, and asks the name service only about accounts that are not there. */
export function findHostUser(key: string): HostUser | undefined {
  return findIn(readFileSync("/etc/passwd", "utf8"), key) ?? findIn(askNameService(key), key);
}

function findIn(passwd: string, key: string): HostUser | undefined {
  const isUid = /^\d+$/.test(key);
  const fields = passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([name, , uid]) => (isUid ? uid === key : name === key && name !== ""));
  return fields === undefined ? undefined : { name: fields[0] ?? "", uid: Number(fields[2]) };
}

function askNameService(key: string): string {
  if (!isPrintable(key) || key.startsWith("-")) return "";
  const { status, stdout } = spawnSync("/usr/bin/getent", ["passwd", key], { encoding: "utf8", timeout: 10_000 });
  return status === 0 ? stdout : "";
}
