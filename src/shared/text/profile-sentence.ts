/** What a profile allows, in words that its users understand. */

import type { ATTESTATIONS, PROFILE_KINDS, SECOND_FACTORS } from "../product/statuses.ts";

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

/** A profile as the API shows it. */
export interface ShownProfile extends Omit<SaidProfile, "readOnly"> {
  readonly read_only: boolean;
  readonly umask: string | null;
  /** Such as "1h30m". */
  readonly idle: string | null;
  readonly max_sessions: number | null;
  readonly second_factor: (typeof SECOND_FACTORS)[number];
  readonly attestation: (typeof ATTESTATIONS)[number];
  readonly groups: readonly string[];
  readonly sudo: readonly string[];
  readonly banner: string | null;
}

/** All of a profile, a sentence for each part: first what its users may do, then what they get besides, and the limits. */
export function profileSentences({ read_only: readOnly, ...profile }: ShownProfile): readonly string[] {
  const { groups, sudo, second_factor: factor, attestation, idle, max_sessions: sessions, umask, banner } = profile;
  const may = profileSentence({ ...profile, readOnly });
  return [
    `M${may.slice(1)}.`,
    ...(groups.length === 0 ? [] : [`In the host's groups: ${listed(groups)}.`]),
    ...(sudo.length === 0 ? [] : [`By sudo, what the host allows in ${listed(sudo)}.`]),
    ...(factor === "none" ? [] : [`Only with a security key${makeOf(attestation)}, with touch and PIN at each login.`]),
    ...(idle === null ? [] : [`Sessions end after ${inWords(idle)} of silence.`]),
    ...(sessions === null
      ? []
      : [`At most ${sessions} ${sessions === 1 ? "session" : "sessions"} for each connection.`]),
    ...(umask === null ? [] : [`New files get the umask ${umask}.`]),
    ...(banner === null ? [] : [`Before each login, the text in ${banner}.`]),
  ];
}

const UNITS: Readonly<Record<string, string>> = { d: "day", h: "hour", m: "minute", s: "second" };

/** "1h30m" as "1 hour 30 minutes". */
function inWords(duration: string): string {
  const word = (amount: string, unit: string) => ` ${amount} ${UNITS[unit]}${amount === "1" ? "" : "s"}`;
  return duration.replace(/(\d+)([dhms])/g, (_, amount: string, unit: string) => word(amount, unit)).trim();
}

/** A profile that binds somebody, themselves or by a group: "by group web, drop-box: may copy files to and from /data/acme, nothing else". */
export function boundWords(
  {
    name,
    means,
    secondFactor,
    attestation = "",
  }: Readonly<Record<"name" | "means" | "secondFactor", string>> & { readonly attestation?: string },
  group?: string,
): string {
  const factor = secondFactor === "verified" ? `, with a security key${makeOf(attestation)} and its PIN` : "";
  const words = `${name}: ${means}${factor}`;
  return group === undefined ? words : `by group ${group}, ${words}`;
}

function makeOf(attestation: string): string {
  return attestation === "required" ? " whose make is proven" : "";
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
