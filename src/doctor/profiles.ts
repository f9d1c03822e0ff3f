/** Whether sshd lets the accounts of each profile do what it says, and nothing else. */

import { lookAtProfiles } from "../host/profiles/look.ts";
import type { HostSettings } from "../host/settings.ts";
import { areaOf, type Finding } from "./finding.ts";

const area = areaOf("profiles");

/** Nothing where the host holds none. */
export async function checkProfiles(
  settings: Pick<HostSettings, "tools" | "profilePaths"> = {},
): Promise<readonly Finding[]> {
  const { names, faults, earlier } = await lookAtProfiles(settings);
  if (names.length + faults.length === 0) return [];
  return [
    ...faults.map((fault) =>
      area.fault(fault, "put uam's drop-in before the host's own rules, or leave the accounts of uam out of them"),
    ),
    ...(faults.length > 0
      ? []
      : [area.ok(`sshd gives the accounts of ${names.length === 1 ? "the profile" : "all profiles"} what it says`)]),
    ...earlier.map((rule) =>
      area.note(
        `A rule of the host comes before those of profiles, and counts for whom it matches (${rule})`,
        "see that it matches no account of uam, from no address: Match User *,!ext_* leaves them out",
      ),
    ),
  ];
}
