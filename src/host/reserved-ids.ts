/** Which user and group ids this host gives to others: a range of accounts must lie outside of them. */

import { readFileSync } from "node:fs";
import { SWEEP_UID, SWEEP_UIDS } from "../shared/system/kernel.ts";
import { overlap, TRIAL_UIDS, type UidRange } from "../shared/system/uids.ts";
import { errorCode } from "./safe-open.ts";

/** Numbers that somebody else gives out. */
export interface ReservedIds extends UidRange {
  readonly what: string;
}

/** The files that say so; "" for one that is missing. */
export interface IdTexts {
  readonly loginDefs: string;
  readonly subuid: string;
  readonly subgid: string;
}

/** Where login.defs(5) is; of several the first. */
const LOGIN_DEFS = ["/etc/login.defs", "/usr/etc/login.defs"] as const;

/** The defaults of shadow-utils for settings that login.defs leaves out. */
const DEFAULTS: Readonly<Record<string, number>> = {
  UID_MIN: 1000,
  UID_MAX: 60_000,
  SYS_UID_MIN: 101,
  GID_MIN: 1000,
  GID_MAX: 60_000,
  SYS_GID_MIN: 101,
  SUB_UID_MIN: 100_000,
  SUB_UID_MAX: 600_100_000,
  SUB_GID_MIN: 100_000,
  SUB_GID_MAX: 600_100_000,
};

/** systemd.io/UIDS-GIDS, and numbers with a meaning of their own. */
const FIXED: readonly ReservedIds[] = [
  { what: "systemd's home directories", first: 60_001, last: 60_513 },
  { what: "systemd's containers, for users of the host", first: 60_514, last: 60_577 },
  { what: "systemd's greeters", first: 60_578, last: 60_705 },
  { what: "systemd's dynamic users", first: 61_184, last: 65_519 },
  { what: "uam's own", ...TRIAL_UIDS },
  { what: "uam's own", first: SWEEP_UID, last: SWEEP_UID },
  { what: "nobody", first: 65_534, last: 65_535 },
  { what: "systemd's containers", first: 524_288, last: 1_879_048_191 },
  { what: "uam's own", ...SWEEP_UIDS },
  { what: "systemd's foreign images", first: 2_147_352_576, last: 2_147_418_111 },
  { what: "what some programs cannot tell from a negative number", first: 2 ** 31, last: 2 ** 32 - 1 },
];

/** The ids that this host gives to others. */
export function readReservedIds(): readonly ReservedIds[] {
  const loginDefs = LOGIN_DEFS.map(readIfThere).find((text) => text !== undefined) ?? "";
  return reservedIds({
    loginDefs,
    subuid: readIfThere("/etc/subuid") ?? "",
    subgid: readIfThere("/etc/subgid") ?? "",
  });
}

/** The same from these texts. Pure. */
export function reservedIds({ loginDefs, subuid, subgid }: IdTexts): readonly ReservedIds[] {
  const set = new Map(
    [...loginDefs.matchAll(/^[ \t]*([A-Z_]+)[ \t]+"?(0[xX][0-9a-fA-F]+|\d+)/gm)].map(([, name = "", value]) => [
      name,
      Number(value),
    ]),
  );
  const defined = (name: string, otherwise = DEFAULTS[name] ?? 0) => set.get(name) ?? otherwise;
  const given = ["UID", "GID"].flatMap((id): readonly ReservedIds[] => [
    { what: `${id}_MIN to ${id}_MAX of login.defs`, first: defined(`${id}_MIN`), last: defined(`${id}_MAX`) },
    {
      what: `SYS_${id}_MIN to SYS_${id}_MAX of login.defs`,
      first: defined(`SYS_${id}_MIN`),
      last: defined(`SYS_${id}_MAX`, defined(`${id}_MIN`) - 1),
    },
    {
      what: `SUB_${id}_MIN to SUB_${id}_MAX of login.defs`,
      first: defined(`SUB_${id}_MIN`),
      last: defined(`SUB_${id}_MAX`),
    },
  ]);
  return [...given, ...subordinate("subuid", subuid), ...subordinate("subgid", subgid), ...FIXED];
}

/** A sentence if others get numbers of the range too, with one that is free; undefined if it is the accounts' alone. Pure. */
export function rangeFault(range: UidRange, reserved: readonly ReservedIds[]): string | undefined {
  const taken = reserved.filter((other) => overlap(range, other));
  if (taken.length === 0) return undefined;
  const others = [...new Set(taken.map(({ what, first, last }) => `${what} (${first}-${last})`))].join(", ");
  const free = freeRange(reserved);
  const advice = free === undefined ? "" : `; free on this host is ${free.first}-${free.last}`;
  return `UAM_UID_RANGE is ${range.first}-${range.last}, which others get numbers of: ${others}. Whoever gets the uid of a deleted account has its files and programs${advice}`;
}

/** As many as are enough, in the lowest place that is free from where nothing usual begins. */
function freeRange(reserved: readonly ReservedIds[]): UidRange | undefined {
  const [lowest, fewest, most] = [65_600, 5_000, 34_400];
  for (let first = lowest; first < 2 ** 31 - fewest; ) {
    const last = first + fewest - 1;
    const inWay = reserved.find((other) => overlap({ first, last }, other));
    if (inWay === undefined) {
      const next = Math.min(...reserved.filter((other) => other.first > last).map((other) => other.first));
      return { first, last: Math.min(first + most, next) - 1 };
    }
    first = inWay.last + 1;
  }
  return undefined;
}

/** The lines of subuid(5), `name:first:count`. */
function subordinate(file: string, text: string): readonly ReservedIds[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", start = "", count = ""] = line.split(":");
    if (!/^\d+$/.test(start) || !/^[1-9]\d*$/.test(count)) return [];
    return [{ what: `/etc/${file} of ${name}`, first: Number(start), last: Number(start) + Number(count) - 1 }];
  });
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errorCode(error))) return undefined;
    throw error;
  }
}
