/** Profiles on a host: what sshd lets the accounts of each do. */

import type { Account, Closing, Purpose } from "../../protocol/host.ts";
import type { HostProfile, ProfileState } from "../../protocol/profile.ts";
import { endEverything, sentencesOf } from "../closing.ts";
import { type HostContext, requireOurs } from "../host-context.ts";

/** See `Host.holdProfiles`. */
export async function holdProfiles(
  { settings, log }: HostContext,
  profiles: readonly HostProfile[],
  purpose: Purpose,
): Promise<readonly ProfileState[]> {
  if (settings.mode === "dry-run") {
    for (const { name, kind } of profiles) log.info("would hold a profile", { profile: name, kind, purpose });
    return profiles.map(({ name }) => ({ name, state: "applied" }));
  }
  const problem = settings.mode === "sudo" ? "Profiles need direct mode" : "This host holds no profiles";
  return profiles.map(({ name }) => ({ name, state: "problem", problem }));
}

/** See `Host.narrowProfile`. Throws only `conflict`, before anything is touched. */
export async function narrowProfile(context: HostContext, account: Account): Promise<Closing> {
  requireOurs(context, account);
  const { failures } = await endEverything(context, account);
  return { refused: false, owed: sentencesOf(failures) };
}
