/** The fields of a profile: which belong to its kind, and what each may be. Nothing of them can be read by sshd or sudo as anything else. */

import { UamError } from "../../shared/errors.ts";
import { parseTargets } from "../../shared/net/targets.ts";
import type { ATTESTATIONS, PROFILE_KINDS, SECOND_FACTORS } from "../../shared/product/statuses.ts";
import { DAY, MINUTE, SECOND } from "../../shared/time/clock.ts";
import { formatDuration, parseDuration } from "../../shared/time/duration.ts";
import type { ProfileRow } from "../../store/schema-companies.ts";
import type { ProfileFields } from "../accounts/profiles.ts";

/** What may be changed of a profile; absent fields stay. */
export interface ProfileChanges {
  readonly directory?: string | undefined;
  readonly readOnly?: boolean | undefined;
  /** Octal digits; null for what the host does by itself. */
  readonly umask?: string | null | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly forwarding?: boolean | readonly string[] | undefined;
  readonly command?: string | undefined;
  /** A duration; null for no end. */
  readonly idle?: string | null | undefined;
  readonly maxSessions?: number | null | undefined;
  readonly secondFactor?: (typeof SECOND_FACTORS)[number] | undefined;
  /** Only with a verified second factor. */
  readonly attestation?: (typeof ATTESTATIONS)[number] | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly sudo?: readonly string[] | undefined;
  readonly banner?: string | null | undefined;
}

type Kind = (typeof PROFILE_KINDS)[number];

/** A new profile. */
export interface NewProfile extends ProfileChanges {
  readonly name: string;
  readonly kind: Kind;
}

/** Fields of some kinds only, as they are named in requests. */
const OF_KINDS: Readonly<
  Partial<Record<keyof ProfileChanges, { readonly name: string; readonly kinds: readonly Kind[] }>>
> = {
  directory: { name: "directory", kinds: ["sftp"] },
  readOnly: { name: "read_only", kinds: ["sftp"] },
  umask: { name: "umask", kinds: ["sftp"] },
  targets: { name: "targets", kinds: ["forward"] },
  forwarding: { name: "forwarding", kinds: ["shell"] },
  command: { name: "command", kinds: ["command"] },
  maxSessions: { name: "max_sessions", kinds: ["shell", "sftp", "command"] },
  groups: { name: "groups", kinds: ["shell"] },
  sudo: { name: "sudo", kinds: ["shell"] },
};

const NAME = /^[a-z][a-z0-9-]{0,23}$/;
/** Names of files and groups that neither a shell nor sshd nor sudo reads as anything else. */
const PART = /^[A-Za-z0-9_+@=,-][A-Za-z0-9._+@=,-]{0,99}$/;
const PROGRAM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const TEMPLATE = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const GROUP = /^[a-z_][a-z0-9_-]{0,31}$/;
const MAX_PATH = 200;
const MAX_SESSIONS = 1000;
const MAX_NAMES = 20;
const MAX_IDLE = 30 * DAY;

/** The profile's name, as a part of the name of a group on hosts. Throws `invalid`. */
export function parseProfileName(text: string): string {
  if (text === "none")
    throw new UamError("invalid", 'No profile can be called "none": that is the word for having none');
  if (NAME.test(text)) return text;
  throw new UamError(
    "invalid",
    "The name of a profile has 1 to 24 letters a to z, digits and hyphens, and begins with a letter",
  );
}

/** The stored form of a new profile. Throws `invalid` for the first field that breaks a rule. */
export function parseNewProfile({ name, kind, ...changes }: NewProfile): ProfileFields {
  const nothing = { directory: null, umask: null, command: null, idleSeconds: null, maxSessions: null, banner: null };
  const empty = { ...nothing, readOnly: false, forwarding: true, targets: [], groups: [], sudo: [] };
  const first = { ...empty, name: parseProfileName(name), kind, secondFactor: "none", attestation: "none" } as const;
  return changedProfile(first, changes);
}

/** What it is made of. */
export function fieldsOf({ id: _, createdAt: __, updatedAt: ___, ...fields }: ProfileRow): ProfileFields {
  return fields;
}

/** The profile with these changes; throws `invalid` for a field that its kind does not have, needs, or that breaks a rule. */
export function changedProfile(before: ProfileFields, changes: ProfileChanges): ProfileFields {
  const { kind } = before;
  for (const [field, { name, kinds }] of Object.entries(OF_KINDS)) {
    const given = changes[field as keyof ProfileChanges];
    if (given === undefined || given === null || kinds.includes(kind)) continue;
    throw new UamError("invalid", `A profile of the kind ${kind} has no ${name}`);
  }
  const after: ProfileFields = {
    ...before,
    ...(changes.directory === undefined ? {} : { directory: parsePath("directory", changes.directory) }),
    ...(changes.readOnly === undefined ? {} : { readOnly: changes.readOnly }),
    ...(changes.umask === undefined ? {} : { umask: parseUmask(changes.umask) }),
    ...(changes.targets === undefined ? {} : { targets: [...parseTargets(changes.targets)] }),
    ...(changes.forwarding === undefined ? {} : forwardingColumns(changes.forwarding)),
    ...(changes.command === undefined ? {} : { command: parseProgram(changes.command) }),
    ...(changes.idle === undefined ? {} : { idleSeconds: parseIdle(changes.idle) }),
    ...(changes.maxSessions === undefined ? {} : { maxSessions: parseSessions(changes.maxSessions) }),
    ...(changes.secondFactor === undefined ? {} : { secondFactor: changes.secondFactor }),
    ...(changes.attestation === undefined ? {} : { attestation: changes.attestation }),
    ...(changes.groups === undefined ? {} : { groups: parseNames("group", changes.groups, GROUP) }),
    ...(changes.sudo === undefined ? {} : { sudo: parseNames("sudo template", changes.sudo, TEMPLATE) }),
    ...(changes.banner === undefined
      ? {}
      : { banner: changes.banner === null ? null : parsePath("banner", changes.banner) }),
  };
  requireWhole(after);
  return after;
}

function requireWhole({ kind, directory, targets, command, secondFactor, attestation }: ProfileFields): void {
  if (attestation === "required" && secondFactor !== "verified") {
    const sentence =
      "attestation can be required only with second_factor verified: only security keys can prove their make";
    throw new UamError("invalid", sentence, { reason: "profile.attestation" });
  }
  const missing = {
    shell: false,
    sftp: directory === null && "directory",
    forward: targets.length === 0 && "targets",
    command: command === null && "command",
  }[kind];
  if (missing !== false) throw new UamError("invalid", `A profile of the kind ${kind} needs ${missing}`);
}

/** A path from the root, of parts that need no quotes anywhere. */
function parsePath(what: string, text: string): string {
  const parts = text.split("/").slice(1);
  const isPlain = parts.every((part) => PART.test(part) && part !== "." && part !== "..");
  if (text.startsWith("/") && text.length <= MAX_PATH && isPlain) return text;
  throw new UamError(
    "invalid",
    `${what} is a path from the root such as /data/acme, of letters a to z, digits and . _ + @ = , - only, without . and .. as parts, and at most ${MAX_PATH} characters`,
  );
}

function parseUmask(text: string | null): string | null {
  if (text === null) return null;
  if (/^0?[0-7]{3}$/.test(text)) return text.slice(-3);
  throw new UamError("invalid", 'umask is three octal digits, such as "027"');
}

function forwardingColumns(given: boolean | readonly string[]): Pick<ProfileFields, "forwarding" | "targets"> {
  if (typeof given === "boolean") return { forwarding: given, targets: [] };
  if (given.length === 0) throw new UamError("invalid", "forwarding is true, false, or a list of at least one target");
  return { forwarding: true, targets: [...parseTargets(given)] };
}

function parseProgram(text: string): string {
  if (PROGRAM.test(text)) return text;
  throw new UamError(
    "invalid",
    "command is the name of a program in /etc/uam-commands: letters, digits and . _ -, at most 64",
  );
}

function parseIdle(text: string | null): number | null {
  if (text === null) return null;
  const idle = parseDuration(text, MAX_IDLE);
  if (idle < MINUTE) throw new UamError("invalid", `idle is at least 1m, not ${formatDuration(idle)}`);
  return idle / SECOND;
}

function parseSessions(count: number | null): number | null {
  if (count === null || (Number.isInteger(count) && count >= 1 && count <= MAX_SESSIONS)) return count;
  throw new UamError("invalid", `max_sessions is a whole number from 1 to ${MAX_SESSIONS}`);
}

function parseNames(what: string, names: readonly string[], pattern: RegExp): string[] {
  const wrong = names.find((name) => !pattern.test(name));
  if (wrong !== undefined)
    throw new UamError("invalid", `Not the name of a ${what}: ${JSON.stringify(wrong.slice(0, 80))}`);
  const each = [...new Set(names)];
  if (each.length > MAX_NAMES) throw new UamError("invalid", `More than ${MAX_NAMES} names of a ${what}`);
  return each;
}
