/** If the unit runs as another user, root's commands run as that user, too: the data is not root's. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT_UNIT_FILE, STATE_DIRECTORY, UNIT_FILE } from "../../../install/settings.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** A program to run for this one. */
export interface Replacement {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Commands that root runs as root even then: they concern the host, or no data. `doctor` also asks the service's user. */
const ROOT_COMMANDS: ReadonlySet<string> = new Set([
  ...["install", "uninstall", "sudoers", "doctor", "version", "openapi", "help"],
  // The unit of an agent runs as the user itself; the other commands on it are root's.
  "agent",
  // The commands that sudo(8) runs as root for the service.
  "sweep",
]);
/** Of `uam host`, what sudo(8) runs as root for the service; the rest is about what is stored. */
const ROOT_HOST_COMMANDS: ReadonlySet<string> = new Set([
  ...["sessions", "end-session", "logins", "refusals", "look", "keep-jobs", "forget-jobs"],
]);
/** The shell's variables that are harmless to pass to another user and that affect the output. */
const KEPT = /^(UAM_.*|LC_.*|LANG|LANGUAGE|TERM|COLORTERM|NO_COLOR|TZ|COLUMNS|LINES)$/;
/** A process that runs for root ends with root's process, even if that was killed and could pass nothing on. */
const SETPRIV = ["/usr/bin/setpriv", "--pdeathsig=TERM"] as const;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The account that the installed unit runs as, drop-ins included; undefined for root, and where there is no unit. */
export function unitUser(unitFile = existsSync(UNIT_FILE) ? UNIT_FILE : AGENT_UNIT_FILE): string | undefined {
  const users = [...unitText(unitFile).matchAll(/^User=(.*)$/gm)].map(([, user = ""]) => user.trim());
  const user = users.at(-1);
  return user === undefined || ["", "root", "0"].includes(user) ? undefined : user;
}

/** The unit, and after it its drop-ins in their order; empty where there is no unit. */
export function unitText(unitFile: string): string {
  if (!existsSync(unitFile)) return "";
  const dropIns = `${unitFile}.d`;
  const names = existsSync(dropIns) ? readdirSync(dropIns).filter((name) => name.endsWith(".conf")) : [];
  const files = [unitFile, ...names.sort().map((name) => join(dropIns, name))];
  return files.map((file) => `${readFileSync(file, "utf8")}\n`).join("");
}

/** True for a command that root hands to the service's user. */
export function belongsToService(args: readonly string[]): boolean {
  const [first = "help", second = ""] = args;
  if (first === "host" && ROOT_HOST_COMMANDS.has(second)) return false;
  // Its output is root's.
  if (first === "user" && second === "jobs") return false;
  return !first.startsWith("-") && !ROOT_COMMANDS.has(first);
}

/**
 * `program` with the same arguments as that user, with its groups and none of root's rights or variables. `operator` is passed
 * along if the kernel does not remember who logged in.
 */
export function asServiceUser(
  user: string,
  {
    program,
    args,
    variables,
    operator,
  }: {
    readonly program: string;
    readonly args: readonly string[];
    readonly variables: Variables;
    readonly operator: { readonly name: string; readonly uid: number };
  },
): Replacement {
  const kept = Object.entries(variables).filter(
    (entry): entry is [string, string] => KEPT.test(entry[0]) && entry[1] !== undefined,
  );
  const identity: Readonly<Record<string, string>> =
    operator.uid >= 0 ? { SUDO_USER: operator.name, SUDO_UID: String(operator.uid) } : {};
  return {
    argv: [...SETPRIV, `--reuid=${user}`, `--regid=${user}`, "--init-groups", "--", program, ...args],
    env: { ...Object.fromEntries(kept), PATH, HOME: STATE_DIRECTORY, USER: user, LOGNAME: user, ...identity },
  };
}
