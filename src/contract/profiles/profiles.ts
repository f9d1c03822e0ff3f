/** /profiles: what accounts may do on hosts. */

import * as v from "valibot";
import { MAX_TARGETS } from "../../shared/net/targets.ts";
import { ATTESTATIONS, PROFILE_KINDS, SECOND_FACTORS } from "../../shared/product/statuses.ts";
import { count, described, IdParams, id, listed, listOf, statusOf, text, wholeNumber } from "../fields.ts";
import { HostsConfirmation } from "../hosts-confirmation.ts";
import { PreviewQuery, previewed, told } from "../preview.ts";
import { operators, owners, type Routes, reviewers } from "../route.ts";

const MOST_NAMES = 20;
const DIRECTORY =
  "Of `sftp`: the path on hosts to which its accounts are confined; each has a directory of its own there";
const READ_ONLY = "Of `sftp`: whether files can only be read";
const UMASK = "Of `sftp`: three octal digits; null for what the host does by itself";
const TARGETS = "Of `forward`: the `host:port` to which connections may be opened, as clients name them";
const FORWARDING = "Of `shell`: whether connections may be forwarded, or only to these `host:port`";
const COMMAND = "Of `command`: the name of a program in `/etc/uam-commands` on hosts, which root put there";
const IDLE = "After how long a session that is silent ends, at least `1m`; null for never";
const MAX_SESSIONS = "How many sessions a connection may have; null for what the host does by itself";
const SECOND_FACTOR = "`verified`: only hardware keys, with touch and PIN at each login";
const ATTESTATION =
  "`required`: only hardware keys whose make was proven when they were uploaded; only with `second_factor` `verified`";
const GROUPS = "Of `shell`: groups of the host, of those that its owner allows";
const SUDO = "Of `shell`: names of templates in `/etc/uam/sudo.d` on hosts";
const BANNER = "The path of a file of root's that sshd shows before a login; null for none";

const name = described("drop-box", "Never another: hosts have the group `uam-p-` and the name");
const kind = v.pipe(
  v.picklist(PROFILE_KINDS),
  v.description(
    "`shell`: log in and run anything; `sftp`: files only; `forward`: connections to `targets` only; `command`: one program",
  ),
);
const forwardingList = (most: number) => listOf(text("db1.example.org:5432", undefined, { maxLength: 300 }), most);

export const ProfileRecord = v.pipe(
  v.object({
    id,
    name,
    kind,
    directory: v.pipe(v.nullable(described("/data/acme")), v.description(DIRECTORY)),
    read_only: v.pipe(v.boolean(), v.description(READ_ONLY), v.examples([false])),
    umask: v.pipe(v.nullable(described("027")), v.description(UMASK)),
    targets: v.pipe(v.array(described("db1.example.org:5432")), v.description(TARGETS)),
    forwarding: v.pipe(v.union([v.boolean(), v.array(described("db1.example.org:5432"))]), v.description(FORWARDING)),
    command: v.pipe(v.nullable(described("deploy")), v.description(COMMAND)),
    idle: v.pipe(v.nullable(described("15m")), v.description(IDLE)),
    max_sessions: v.pipe(v.nullable(count(2)), v.description(MAX_SESSIONS)),
    second_factor: v.pipe(v.picklist(SECOND_FACTORS), v.description(SECOND_FACTOR)),
    attestation: v.pipe(v.picklist(ATTESTATIONS), v.description(ATTESTATION)),
    groups: v.pipe(v.array(described("docs")), v.description(GROUPS)),
    sudo: v.pipe(v.array(described("restart-web")), v.description(SUDO)),
    banner: v.pipe(v.nullable(described("/etc/issue.net")), v.description(BANNER)),
    users: v.pipe(count(12), v.description("How many users have it themselves")),
  }),
  v.title("Profile"),
);

const changes = {
  directory: v.optional(text("/data/acme", DIRECTORY, { maxLength: 200 })),
  read_only: v.optional(v.pipe(v.boolean(), v.description(READ_ONLY), v.examples([false]))),
  umask: v.optional(v.nullable(text("027", UMASK, { maxLength: 10 }))),
  targets: v.optional(v.pipe(forwardingList(MAX_TARGETS), v.description(TARGETS))),
  forwarding: v.optional(v.pipe(v.union([v.boolean(), forwardingList(MAX_TARGETS)]), v.description(FORWARDING))),
  command: v.optional(text("deploy", COMMAND, { maxLength: 100 })),
  idle: v.optional(v.nullable(text("15m", IDLE, { maxLength: 40 }))),
  max_sessions: v.optional(v.nullable(wholeNumber(1, 1000, MAX_SESSIONS))),
  second_factor: v.optional(v.pipe(v.picklist(SECOND_FACTORS), v.description(SECOND_FACTOR))),
  attestation: v.optional(v.pipe(v.picklist(ATTESTATIONS), v.description(ATTESTATION))),
  groups: v.optional(listOf(text("docs", undefined, { maxLength: 32 }), MOST_NAMES, GROUPS)),
  sudo: v.optional(listOf(text("restart-web", undefined, { maxLength: 64 }), MOST_NAMES, SUDO)),
  banner: v.optional(v.nullable(text("/etc/issue.net", BANNER, { maxLength: 200 }))),
};

const NewProfile = v.pipe(
  v.object({
    name: text("drop-box", "1 to 24 letters a to z, digits and hyphens; begins with a letter", { maxLength: 24 }),
    kind,
    ...changes,
  }),
  v.title("NewProfile"),
);

const ProfileChanges = v.pipe(v.object(changes), v.title("ProfileChanges"));

const ProfilePreview = v.pipe(
  v.object({
    ...told,
    users: v.pipe(count(2), v.description("How many accounts of the service's own host lose what they have open")),
  }),
  v.title("ProfilePreview"),
);

/** On further hosts, where it allows less; `users` is how many have it. */
const ChangedProfile = v.pipe(
  v.object({ ...ProfileRecord.pipe[0].entries, hosts: v.optional(HostsConfirmation) }),
  v.title("ChangedProfile"),
);

export const profiles = {
  "GET /profiles": {
    operationId: "listProfiles",
    summary: "List profiles",
    description: "By name, and not paged.",
    // They choose one for a new user.
    who: reviewers,
    answer: listed(ProfileRecord),
  },
  "POST /profiles": {
    operationId: "createProfile",
    summary: "Make a profile",
    description:
      "Nobody has it yet. The service's own host holds it when this returns: sshd was asked. What a kind does not have is refused.",
    who: owners,
    records: "profile.create",
    body: NewProfile,
    status: 201,
    answer: ProfileRecord,
    refusals: { 409: "The name is taken" },
    reasons: ["profile.taken", "profile.refused", "profile.attestation"],
  },
  "GET /profiles/:id": {
    operationId: "getProfile",
    summary: "Read a profile",
    who: operators,
    params: IdParams,
    answer: ProfileRecord,
    refusals: { 404: true },
    reasons: ["profile.missing"],
  },
  "PATCH /profiles/:id": {
    operationId: "updateProfile",
    summary: "Change what a profile allows",
    description:
      "Only the fields that are sent change; name and kind stay. Where it allows less, or something else, everything that is open of the accounts that have it ends, new sessions first. Where some of them are on hosts with agents, the answer waits a few seconds for these, and `hosts` says what they have confirmed. Ask for a preview first.",
    who: owners,
    records: "profile.update",
    params: IdParams,
    query: PreviewQuery,
    body: ProfileChanges,
    answer: previewed(ProfilePreview, ChangedProfile),
    refusals: {
      404: true,
      409: "Somebody would have two profiles of which neither allows less, or the service's own host holds no such profile",
      500: "Something that is open goes on. The profile is stored all the same, and the service keeps trying to end it",
    },
    reasons: [
      ...([
        "profile.missing",
        "profile.refused",
        "profile.incomparable",
        "profile.mode",
        "profile.attestation",
      ] as const),
      ...(["access.owed", "state.conflict"] as const),
    ],
  },
  "DELETE /profiles/:id": {
    operationId: "deleteProfile",
    summary: "Delete a profile",
    description: "Only one that no user and no group of hosts has.",
    who: owners,
    params: IdParams,
    query: PreviewQuery,
    answer: previewed(ProfilePreview, statusOf("deleted")),
    refusals: { 404: true, 409: "Users or groups of hosts have it" },
    reasons: ["profile.missing", "profile.used"],
  },
} as const satisfies Routes;
