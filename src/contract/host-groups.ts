/** /host-groups, /users/:id/hosts and /me/hosts: which users have an account on which hosts. */

import * as v from "valibot";
import { count, described, IdParams, id, listed, listOf, shownProfile, statusOf, text, timestamp } from "./fields.ts";
import { groupName, hostName, LEASE, moment, NAMES, newLease } from "./hosts.ts";
import { HostsConfirmation } from "./hosts-confirmation.ts";
import { FleetPreview, PreviewQuery, previewed } from "./preview.ts";
import { ownProfile } from "./profiles/own.ts";
import { externalUsers, NEW_ACCOUNT, operators, owners, type Routes } from "./route.ts";
import { givenHours, shownHours } from "./users/hours.ts";

/** Of hosts or groups in one request. */
const MOST_NAMES = 10_000;

const PROFILE =
  "What may be done at most by whoever comes to its hosts by it, by the name of a profile; null: anything";

const profile = v.optional(v.nullable(text("drop-box", PROFILE, { maxLength: 24 })));

const HostGroupRecord = v.pipe(
  v.object({
    id,
    name: groupName,
    hosts: v.array(hostName),
    users: v.pipe(count(12), v.description("How many users have it")),
    lease: v.pipe(v.nullable(described("4h")), v.description(`${LEASE}; null for none of its own`)),
    hours: shownHours,
    profile: v.pipe(shownProfile, v.description(PROFILE)),
    for_new_users: v.pipe(v.boolean(), v.metadata({ description: "Whether new users get it", examples: [false] })),
    created_at: timestamp,
  }),
  v.title("HostGroup"),
);

/** Of the hosts, the own one too, on which the change takes access away; `hosts` are the group's. */
const narrowed = v.optional(HostsConfirmation);

const newHosts = someHosts("All hosts of the group");

const NewHostGroup = v.pipe(
  v.object({ name: text("web", undefined, NAMES), hosts: newHosts, lease: newLease, hours: givenHours, profile }),
  v.title("NewHostGroup"),
);

const HostGroupChanges = v.pipe(
  v.object({
    name: v.optional(text("web", undefined, NAMES)),
    hosts: newHosts,
    add: someHosts("Hosts that join, instead of `hosts`"),
    remove: someHosts("Hosts that leave, instead of `hosts`"),
    lease: newLease,
    hours: givenHours,
    profile,
    for_new_users: v.optional(
      v.pipe(
        v.boolean(),
        v.metadata({
          description: "true: new users get this group instead of the present one",
          examples: [true],
        }),
      ),
    ),
  }),
  v.title("HostGroupChanges"),
);

const UserHosts = v.pipe(
  v.object({
    hosts: v.pipe(v.array(hostName), v.description("Given by name")),
    groups: v.pipe(v.array(groupName), v.description("Given by group")),
    /** Of the hosts with agents that the request took. */
    taken: v.optional(HostsConfirmation),
    items: v.array(
      v.object({
        host: hostName,
        group: described("web", "By which group; empty where the host was given by name"),
        state: v.pipe(
          v.picklist(["applied", "pending", "problem"]),
          v.description("Whether the host has applied the stored state, has not yet, or cannot"),
        ),
        since: timestamp,
        removing: v.pipe(
          v.boolean(),
          v.metadata({
            description: "The user no longer has the host, and it has not yet removed the account",
            examples: [false],
          }),
        ),
        problem: described("The uid 60007 belongs to bob", "The problem; empty if there is none"),
        lease_until: v.pipe(moment, v.description("As of the host")),
      }),
    ),
  }),
  v.title("UserHosts"),
);

const UserHostChanges = v.pipe(
  v.object({
    hosts: listOf(text("web1", undefined, { maxLength: 63 }), MOST_NAMES, "All that are given by name"),
    groups: listOf(text("web", undefined, { maxLength: 63 }), MOST_NAMES, "All that are given by group"),
  }),
  v.title("UserHostChanges"),
);

const OwnHosts = v.pipe(
  v.object({
    items: v.array(
      v.object({
        name: hostName,
        state: v.picklist(["applied", "pending", "problem"]),
        ssh: v.nullable(
          v.object({
            host: described("web1.example.org"),
            port: count(22),
            host_keys: v.array(described("SHA256:ZtHGr0JRRTR5c1mBn4VgxoGuxWVfuZ7mjuDrT5JDNDs (ED25519)")),
            command: described("ssh ext_alice@web1.example.org"),
            profile: ownProfile,
            config: described("Host web1.example.org\n  HostName web1.example.org\n  User ext_alice\n  Port 22"),
            known_hosts: v.array(
              described(
                "web1.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILaNJJBGzPmkiX3Z160Q00v6FSEYUOHcfhr2QsREXeNz",
              ),
            ),
          }),
        ),
      }),
    ),
  }),
  v.title("OwnHosts"),
);

export const hostGroups = {
  "GET /host-groups": {
    operationId: "listHostGroups",
    summary: "List groups of hosts",
    description: "By name, and not paged.",
    who: operators,
    answer: listed(HostGroupRecord),
  },
  "GET /host-groups/:id": {
    operationId: "getHostGroup",
    summary: "Read a group of hosts",
    who: operators,
    params: IdParams,
    answer: HostGroupRecord,
    refusals: { 404: true },
    reasons: ["host_group.missing"],
  },
  "POST /host-groups": {
    operationId: "createHostGroup",
    summary: "Make a group of hosts",
    description: "No user has it yet, so that no account changes.",
    who: owners,
    records: "host_group.create",
    body: NewHostGroup,
    status: 201,
    answer: HostGroupRecord,
    refusals: {
      409: "The name is taken, or a host is being retired",
    },
    reasons: ["host_group.taken", "host.missing", "host.retiring", "profile.missing"],
  },
  "PATCH /host-groups/:id": {
    operationId: "updateHostGroup",
    summary: "Change a group of hosts",
    description:
      "Only the fields that are sent change; `hosts` are all that it has from then on; `add` and `remove` change some, and do not undo what another request changes at the same time. Its users get an account on each host that joins, and lose the one, with its home, on each that leaves and that they have by nothing else. Ask for a preview first.",
    who: owners,
    records: "host_group.update",
    params: IdParams,
    query: PreviewQuery,
    body: HostGroupChanges,
    answer: previewed(
      FleetPreview,
      v.pipe(v.object({ ...HostGroupRecord.entries, narrowed }), v.title("ChangedHostGroup")),
    ),
    refusals: {
      404: true,
      409: "The name is taken, a host is being retired, users would get or lose their account on the service's own host (final), or the profile does not fit a user's or the host",
      500: "Something that may no longer be done goes on. The group is stored all the same, and the service keeps trying to end it",
    },
    reasons: [
      ...(["host_group.missing", "host_group.taken", "host_group.used"] as const),
      ...(["host.missing", "host.retiring", "host.local", "access.owed"] as const),
      ...(["profile.missing", "profile.mode", "profile.incomparable"] as const),
    ],
  },
  "DELETE /host-groups/:id": {
    operationId: "deleteHostGroup",
    summary: "Delete a group of hosts",
    description: "Only one that no user, company or rule of access on request names. Its hosts stay.",
    who: owners,
    params: IdParams,
    query: PreviewQuery,
    answer: previewed(FleetPreview, statusOf("deleted")),
    refusals: { 404: true, 409: "Users have the group, or new ones get it" },
    reasons: ["host_group.missing", "host_group.used"],
  },
  "GET /users/:id/hosts": {
    operationId: "listUserHosts",
    summary: "Where a user has an account",
    description:
      "The user's grants, by name and by group, and the state of each host. Not paged. The last items are hosts that the user no longer has and that have not yet removed the account.",
    who: operators,
    params: IdParams,
    answer: UserHosts,
    refusals: { 404: true },
    reasons: ["user.missing"],
  },
  "PUT /users/:id/hosts": {
    operationId: "setUserHosts",
    summary: "Give a user these hosts and groups, and no others",
    description:
      "The user gets an account on each host that is new. Where one goes, the account there is removed with its home. The service waits a moment for that: `taken` says how many hosts have done so, or let the user do less by a narrower profile, and from when on it is certainly true on all.",
    who: operators,
    records: "user.grant",
    params: IdParams,
    query: PreviewQuery,
    body: UserHostChanges,
    answer: previewed(FleetPreview, UserHosts),
    refusals: {
      404: true,
      409: "None is given, a host is being retired, the user is being deleted, or the service's own host has something else of the account's name",
      500: "The account on the service's own host could not be made, and nothing was changed; or it could not be removed completely: then the rest is stored, and the service keeps trying. The message says which",
    },
    reasons: [
      "company.limit",
      ...NEW_ACCOUNT,
      "user.missing",
      "user.deleting",
      "grant.last",
      "host.missing",
      "host.retiring",
      "host_group.missing",
      "access.owed",
      "profile.mode",
      "profile.incomparable",
    ],
  },
  "GET /me/hosts": {
    operationId: "listOwnHosts",
    summary: "Where you have an account, and how to connect",
    description:
      "`ssh` is null where the host has not said yet where it can be reached. Until `state` is `applied`, what was changed last does not hold there yet.",
    who: externalUsers,
    answer: OwnHosts,
  },
} as const satisfies Routes;

function someHosts(description: string) {
  return v.optional(listOf(text("web1", "A host's name", { maxLength: 63 }), MOST_NAMES, description));
}
