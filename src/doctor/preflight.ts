/** Checks the service's requirements on the host before it starts: run by the doctor, and by `serve`, which fails without them. */

import { spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { findSudoFault } from "../host/execute/sudo-program.ts";
import { octal } from "../shared/text/octal.ts";
import { areaOf, type Finding } from "./finding.ts";

/** The values to check; a missing value was invalid itself, which is reported elsewhere. */
export interface Needs {
  readonly shell?: string | undefined;
  readonly homeBase?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly hostMode?: string | undefined;
}

const READ_OR_WRITE = 0o066;
const host = areaOf("host");
const data = areaOf("data");

/** Faults of the shell, the home base and the groups that accounts are to get, and of sudo in sudo mode; none if all of them are there. */
export function checkNeeds({ shell, homeBase, groups = [], hostMode }: Needs): readonly Finding[] {
  const sudo = hostMode === "sudo" ? findSudoFault() : undefined;
  return [
    ...(sudo === undefined ? [] : [host.fault(sudo.finding, sudo.remedy)]),
    ...(shell === undefined || isProgram(shell)
      ? []
      : [host.fault(`UAM_SHELL is ${shell}, which is not a program on this host`, "set it to a shell of this host")]),
    ...(homeBase === undefined || isDirectory(homeBase)
      ? []
      : [
          host.fault(
            `UAM_HOME_BASE is ${homeBase}, which is not a directory on this host`,
            `create it: mkdir ${homeBase}`,
          ),
        ]),
    ...groups
      .filter((group) => !hasGroup(group))
      .map((group) =>
        host.fault(`UAM_GROUPS names ${group}, a group that this host does not have`, `groupadd ${group}`),
      ),
  ];
}

/** A directory or file, and the most that its mode may allow. */
export interface Secret {
  readonly path: string;
  readonly most: number;
}

/** Files that others can read or write and should not; a missing file is not a fault. */
export function checkSecrecy(secrets: readonly Secret[]): readonly Finding[] {
  return secrets.flatMap(({ path, most }) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || (stat.mode & READ_OR_WRITE & ~most) === 0) return [];
    return [
      data.fault(`Others can read ${path} (mode ${octal(stat.mode)})`, `chmod ${octal(stat.mode & most)} ${path}`),
    ];
  });
}

/** A finding as one sentence, for a start that fails. */
export function sentenceOf({ finding, remedy }: Finding): string {
  return remedy === undefined ? finding : `${finding}; ${remedy}`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** In /etc/group, or known to the name service, as groups in LDAP are. */
function hasGroup(name: string): boolean {
  if (
    readFileSync("/etc/group", "utf8")
      .split("\n")
      .some((line) => line.startsWith(`${name}:`))
  )
    return true;
  return spawnSync("getent", ["group", name], { timeout: 10_000 }).status === 0;
}
