/** Profiles as the records that the API and the command line show. */

import { profileHere } from "../domain/accounts/profiles.ts";
import type { Profile as StoredProfile } from "../domain/profiles/profiles.ts";
import type { ProfilePreview } from "../domain/profiles/update.ts";
import type { Profile } from "../protocol/profile-order.ts";
import { fittingCommands, type SshSite, sshCommand } from "../shared/text/connection.ts";
import { profileSentence } from "../shared/text/profile-sentence.ts";
import { SECOND } from "../shared/time/clock.ts";
import { formatDuration } from "../shared/time/duration.ts";

export function profileRecord({ row, users }: StoredProfile) {
  const isForward = row.kind === "forward";
  const only = row.kind === "shell" && row.targets.length > 0 ? [...row.targets] : row.forwarding;
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    directory: row.directory,
    read_only: row.readOnly,
    umask: row.umask,
    targets: isForward ? [...row.targets] : [],
    forwarding: row.kind === "shell" ? only : false,
    command: row.command,
    idle: row.idleSeconds === null ? null : formatDuration(row.idleSeconds * SECOND),
    max_sessions: row.maxSessions,
    second_factor: row.secondFactor,
    attestation: row.attestation,
    groups: [...row.groups],
    sudo: [...row.sudo],
    banner: row.banner,
    users,
  };
}

export function profilePreviewRecord({ effects, host, users }: ProfilePreview) {
  return { preview: true as const, effects: [...effects], host: [...host], users };
}

/** The commands that connect, and what they may be used for where a profile says it. */
export function connectionRecord(profile: Profile | "incomparable", site: SshSite, username: string) {
  if (profile === undefined || profile === "incomparable") return { command: sshCommand(site, username) };
  const commands = [...fittingCommands(profile, site, username)];
  const { kind, secondFactor: second_factor, attestation = "none" as const } = profile;
  const [command = ""] = commands;
  return { command, profile: { kind, means: profileSentence(profile), commands, second_factor, attestation } };
}

/** The same for the service's own host. */
export function ownConnection(user: Parameters<typeof profileHere>[0] & { readonly username: string }, site: SshSite) {
  return connectionRecord(profileHere(user), site, user.username);
}

/** What a user may do, in words; null for what the host lets any account do. */
export function ownProfile(user: Parameters<typeof profileHere>[0]): string | null {
  const counts = profileHere(user);
  if (counts === "incomparable") return "may do nothing until an administrator chooses between two profiles";
  return counts === undefined ? null : profileSentence(counts);
}
