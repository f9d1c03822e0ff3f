/** The last line of defence before a profile reaches a configuration: nothing but names, numbers, `host:port` and plain paths. Pure. */

import type { HostProfile } from "../../protocol/profile.ts";
import { isPlainPath } from "../settings.ts";

const NAME = /^[a-z][a-z0-9-]{0,23}$/;
const TARGET = /^(?:\[[0-9a-fA-F:.]{2,45}\]|[a-zA-Z0-9](?:[a-zA-Z0-9.-]{0,252}[a-zA-Z0-9])?):(\d{1,5})$/;
const PROGRAM = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;
const TEMPLATE = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/;
const GROUP = /^[a-z_][a-z0-9_-]{0,31}$/;
const UMASK = /^0?[0-7]{3}$/;
const UNSAFE = /[^\x21-\x7e]|["'`%#\\$*?]/;

/** Whether it may be the name of a profile, and so a part of a group's. */
export function isProfileName(name: string): boolean {
  return NAME.test(name);
}

/** Why the profile cannot be held on any host, as a sentence; undefined if it can. */
export function faultOfProfile(profile: HostProfile): string | undefined {
  const { kind, directory, umask, targets = [], forwarding, command, banner, groups = [], sudo = [] } = profile;
  if (!isProfileName(profile.name)) return `Not the name of a profile: ${JSON.stringify(profile.name)}`;
  const listed = [...targets, ...(typeof forwarding === "object" ? forwarding : [])];
  const target = listed.find((one) => !isTarget(one));
  if (target !== undefined) return `Not a target such as db.example.org:5432: ${JSON.stringify(target)}`;
  if (kind === "forward" && targets.length === 0) return "It names no target";
  for (const path of [...(kind === "sftp" ? [directory ?? ""] : []), ...(banner === undefined ? [] : [banner])])
    if (!isPlainPath(path) || UNSAFE.test(path)) return `Not an absolute, plain path: ${JSON.stringify(path)}`;
  if (umask !== undefined && !UMASK.test(umask)) return `Not a umask such as 027: ${JSON.stringify(umask)}`;
  if (kind === "command" && !PROGRAM.test(command ?? ""))
    return `Not the name of a program: ${JSON.stringify(command)}`;
  const odd = groups.find((group) => !GROUP.test(group)) ?? sudo.find((template) => !TEMPLATE.test(template));
  if (odd !== undefined) return `Not the name of a group or of a template: ${JSON.stringify(odd)}`;
  return faultOfNumbers(profile);
}

function faultOfNumbers({ idleSeconds, maxSessions }: HostProfile): string | undefined {
  const isWithin = (value: number | undefined, least: number, most: number) =>
    value === undefined || (Number.isInteger(value) && value >= least && value <= most);
  if (!isWithin(idleSeconds, 60, 31_536_000)) return `Not a number of seconds from 60: ${idleSeconds}`;
  if (!isWithin(maxSessions, 1, 1000)) return `Not a number of sessions from 1: ${maxSessions}`;
  return undefined;
}

function isTarget(text: string): boolean {
  const port = Number(TARGET.exec(text)?.[1]);
  return port >= 1 && port <= 65_535;
}
