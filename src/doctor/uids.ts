/** Whether uids of accounts can become somebody else's. */

import { readAccounts } from "../host/account.ts";
import { findLeftPrograms, type LeftPrograms } from "../host/left-programs.ts";
import { type ReservedIds, rangeFault, readReservedIds } from "../host/reserved-ids.ts";
import { isWithin, type UidRange } from "../shared/system/uids.ts";
import { counted } from "../shared/text/counted.ts";
import { areaOf, type Finding } from "./finding.ts";

const REMEDY = "set UAM_UID_RANGE to what is free: accounts keep the uids they have, and new ones get others";

/** A fault if the host gives numbers of the range to others, too. */
export function checkUidRange(range: UidRange): readonly Finding[] {
  const fault = rangeFault(range, readReservedIds());
  return fault === undefined ? [] : [areaOf("uids").fault(fault, REMEDY)];
}

/** The account that keeps useradd above the uids of before. */
const PLACEHOLDER = "uam-reserved";

/** The uids given to accounts, and whether an account has each still. */
export interface GivenUid {
  readonly uid: number;
  readonly isStored: boolean;
}

const PROGRAM_REMEDY =
  "look at it, and remove it: whoever starts it works under a uid that no account has, until that is ended within a minute";

/**
 * Faults about uids of accounts that are gone: somebody else now has one, or a program that gives its rights is left outside the homes.
 * A note where others may yet get uids of ours.
 */
export async function checkGivenUids(
  given: readonly GivenUid[],
  homes: string,
  look: typeof findLeftPrograms = findLeftPrograms,
): Promise<readonly Finding[]> {
  const { namesByUid } = readAccounts();
  const area = areaOf("uids");
  const gone = given.filter(({ isStored }) => !isStored).map(({ uid }) => uid);
  const taken = gone.flatMap((uid) => (namesByUid.get(uid) ?? []).map((name) => ({ uid, name })));
  const free = new Set(gone.filter((uid) => !namesByUid.has(uid)));
  const left = free.size === 0 ? { found: [], unseen: [] } : await look((id) => free.has(id), { homes });
  return [
    ...taken.map(({ uid, name }) =>
      area.fault(
        `${name} has the uid ${uid} of an account that is gone, and with it the files and set-uid programs that it left`,
        `give ${name} another: usermod -u UID ${name}; then remove what find / -xdev -uid ${uid} names`,
      ),
    ),
    ...(namesByUid.values().some((names) => names.includes(PLACEHOLDER)) ? [] : sharedUids(given, readReservedIds())),
    ...programFindings(left),
  ];
}

/** A note if uids that were given lie where others get theirs. Pure. */
export function sharedUids(given: readonly GivenUid[], reserved: readonly ReservedIds[]): readonly Finding[] {
  const shared = given.map(({ uid }) => uid).filter((uid) => reserved.some((other) => isWithin(uid, other)));
  if (shared.length === 0) return [];
  const [lowest, highest] = [Math.min(...shared), Math.max(...shared)];
  const finding = `${counted(shared.length, "uid")} of accounts from before (${lowest}-${highest}) may be given to others once an account is gone`;
  const remedy = `set UID_MAX and GID_MAX to ${lowest - 1} in /etc/login.defs, or keep useradd above them: groupadd -g ${highest + 1} ${PLACEHOLDER}; useradd -M -N -u ${highest + 1} -g ${PLACEHOLDER} -s /usr/sbin/nologin ${PLACEHOLDER}`;
  return [areaOf("uids").note(finding, remedy)];
}

function programFindings({ found, unseen }: LeftPrograms): readonly Finding[] {
  const area = areaOf("uids");
  return [
    ...found.map(({ path, uid }) =>
      area.fault(`${path} gives whoever starts it the rights of uid ${uid}, whose account is gone`, PROGRAM_REMEDY),
    ),
    ...(unseen.length === 0
      ? []
      : [area.skipped(`Programs that accounts left were not looked for everywhere: ${unseen.join(", ")}`)]),
  ];
}
