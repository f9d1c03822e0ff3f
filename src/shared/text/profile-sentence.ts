/** What a profile allows, in words that its users understand. */

import type { PROFILE_KINDS } from "../product/statuses.ts";

/** The parts of a profile that the sentence says. */
export interface SaidProfile {
  readonly kind: (typeof PROFILE_KINDS)[number];
  readonly directory?: string | null | undefined;
  readonly readOnly?: boolean | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly forwarding?: boolean | readonly string[] | undefined;
  readonly command?: string | null | undefined;
}

/** For example "may copy files to and from /data/acme, nothing else": what somebody with the profile may do. */
export function profileSentence({
  kind,
  directory,
  readOnly,
  targets = [],
  forwarding = false,
  command,
}: SaidProfile): string {
  switch (kind) {
    case "sftp":
      return `may ${readOnly ? "read files in" : "copy files to and from"} ${directory}, nothing else`;
    case "forward":
      return `may open connections to ${listed(targets)}, nothing else`;
    case "command":
      return `may run ${command}, nothing else`;
    case "shell":
      return `may log in and run programs${forwardingOf(forwarding)}`;
  }
}

function forwardingOf(forwarding: boolean | readonly string[]): string {
  if (forwarding === true) return ", and forward connections";
  return forwarding === false
    ? ", and forward no connections"
    : `, and forward connections to ${listed(forwarding)} only`;
}

function listed(targets: readonly string[]): string {
  const last = targets.at(-1) ?? "";
  return targets.length < 2 ? last : `${targets.slice(0, -1).join(", ")} and ${last}`;
}
