/** Profiles as the records that the API and the command line show. */

import { profileHere } from "../domain/accounts/profiles.ts";
import type { Profile } from "../domain/profiles/profiles.ts";
import type { ProfilePreview } from "../domain/profiles/update.ts";
import { profileSentence } from "../shared/text/profile-sentence.ts";
import { SECOND } from "../shared/time/clock.ts";
import { formatDuration } from "../shared/time/duration.ts";

export function profileRecord({ row, users }: Profile) {
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
    attestation: "none" as const,
    groups: [...row.groups],
    sudo: [...row.sudo],
    banner: row.banner,
    users,
  };
}

export function profilePreviewRecord({ effects, host, users }: ProfilePreview) {
  return { preview: true as const, effects: [...effects], host: [...host], users };
}

/** What a user may do, in words; null for what the host lets any account do. */
export function ownProfile(user: Parameters<typeof profileHere>[0]): string | null {
  const counts = profileHere(user);
  if (counts === "incomparable") return "may do nothing until an administrator chooses between two profiles";
  return counts === undefined ? null : profileSentence(counts);
}
