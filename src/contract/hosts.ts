/** Hosts, their groups, and who has an account where, in requests and answers. */

import * as v from "valibot";
import { HOST_PROBLEM_KINDS } from "../protocol/fleet.ts";
import { HOST_NAME } from "../shared/host-name.ts";
import { HOST_KINDS, HOST_STATUSES } from "../shared/statuses.ts";
import { confirmation } from "./confirmation.ts";
import { described, id, listOf, pageFields, text, timestamp } from "./fields.ts";
import { HostsConfirmation } from "./hosts-confirmation.ts";
import { PreviewQuery, told } from "./preview.ts";

const NAMES = { pattern: HOST_NAME.source, maxLength: 63 };
/** Of hosts or groups in one request. */
const MOST_NAMES = 10_000;
const LEASE = "How long it stays open without the service: from `5m` to `7d`, or `none` for without end";
const LEASE_ENDS = ["logins", "sessions"] as const;

const hostName = described("web1");
const groupName = described("web");
const newLease = v.optional(v.nullable(text("4h", `${LEASE}; null for none of its own`)));

export const JoinRequest = v.pipe(
  v.object({
    name: v.optional(text("web1", "What the host is to be called; without it, its own name", NAMES)),
    group: v.optional(text("web", "The group that it joins; without it, none", NAMES)),
    ...confirmation,
  }),
  v.title("JoinRequest"),
);

export const JoinLine = v.pipe(
  v.object({
    line: described(
      "https://uam.example.org uamj_3lqbJZ0hZ1l2Qk5d0s8mYw9cT7vXnRgF4uEoPaKjLhs SHA256:b2Tn5hXvFQ8m1rYzJkLwPqRsTuVxYzA0B1C2D3E4F5G",
      "What `uam agent join` takes on the host, as root: address, token, and the fingerprint of the service's key",
    ),
    expires_at: timestamp,
  }),
  v.title("JoinLine"),
);

export const HostQuery = v.object({
  ...pageFields,
  q: v.optional(text("web", "A part of the name", { maxLength: 63 })),
  group: v.optional(text("web", "Only hosts in the group of this name", { maxLength: 63 })),
  status: v.optional(v.picklist(HOST_STATUSES)),
});

const moment = v.nullable(timestamp);

const hostFields = {
  id,
  name: hostName,
  kind: v.pipe(v.picklist(HOST_KINDS), v.description("`local` is the service's own host, `remote` one with an agent")),
  status: v.pipe(
    v.picklist(HOST_STATUSES),
    v.description("`locked`: shut as a whole. `retiring`: forgotten once its accounts are gone"),
  ),
  groups: v.array(groupName),
  ssh_host: described("web1.example.org", "Where its sshd answers; empty where it has not said so yet"),
  ssh_port: number(22),
  lease: v.pipe(v.nullable(described("4h")), v.description(`The lease in force. ${LEASE}; null for the service's own`)),
  own_lease: v.pipe(v.nullable(described("4h")), v.description("What it was given itself; null: as its groups say")),
  lease_ends: v.pipe(v.picklist(LEASE_ENDS), v.description("What ends with the lease: logins, or open sessions too")),
  lease_until: v.pipe(
    moment,
    v.description("When nobody can log in any more if it is cut off from now on, at the latest"),
  ),
  enrolled_at: timestamp,
  last_seen_at: v.pipe(moment, v.description("Its agent's last sign; null where there never was one")),
  mode: described("direct", "How its agent works; empty for the service's own"),
  version: described("0.3.0", "Of its agent; empty for the service's own"),
  clock_offset_ms: v.pipe(
    v.number(),
    v.integer(),
    v.metadata({ description: "Its clock less the service's", examples: [12] }),
  ),
};

export const HostRecord = v.pipe(v.object({ ...hostFields, problems: number(0) }), v.title("Host"));

export const HostProblemRecord = v.pipe(
  v.object({
    host: hostName,
    account: described("ext_alice", "Empty where it is about the host"),
    kind: v.pipe(
      v.picklist(HOST_PROBLEM_KINDS),
      v.description(
        "As the agent says, `conflict`: name or uid is somebody else's; `missing`: the account is gone; `refused`: what was to be done was not, and is tried again; `drift`: it differed, and was repaired (shown for a day); `finding`: as of `uam doctor`. As the service sees, `silent`, `lease_ended`, `diverged` and `unknown`, accounts that the database has lost (both until `uam fleet accept`), `clock`, `no_lease`, `locked`",
      ),
    ),
    text: described("The uid 60007 belongs to bob", "What is wrong, as a sentence"),
    since: timestamp,
  }),
  v.title("HostProblem"),
);

export const HostDetail = v.pipe(
  v.object({
    ...hostFields,
    host_keys: v.pipe(
      v.array(described("SHA256:ZtHGr0JRRTR5c1mBn4VgxoGuxWVfuZ7mjuDrT5JDNDs (ED25519)")),
      v.description("The fingerprints of its SSH host keys"),
    ),
    accounts: v.pipe(
      v.object({ total: number(12), open: number(9) }),
      v.description("How many users have an account there, and of how many it is open"),
    ),
    problems: v.array(HostProblemRecord),
  }),
  v.title("HostDetail"),
);

export const HostChanges = v.pipe(
  v.object({
    name: v.optional(text("web1", undefined, NAMES)),
    lease: newLease,
    lease_ends: v.optional(v.picklist(LEASE_ENDS)),
  }),
  v.title("HostChanges"),
);

export const JoinPreviewQuery = v.object({
  group: text("web", "The name of the group that the host would join", { maxLength: 63 }),
});

const flag = (description: string) => v.optional(v.pipe(v.picklist(["true", "false"]), v.description(description)));

export const RetireQuery = v.object({
  ...PreviewQuery.entries,
  force: flag("`true`: forget the host at once. Its accounts stay there, and it is shut only when its lease ends"),
});

export const RetirementRecord = v.pipe(
  v.object({
    status: v.picklist(["retiring", "forgotten"]),
    accounts: number(12),
    effective_by: v.pipe(
      moment,
      v.description("From then on nobody can log in there; null where that is not certain, because it has no lease"),
    ),
  }),
  v.title("Retirement"),
);

export const FleetPreview = v.pipe(
  v.object({
    ...told,
    accounts: v.pipe(
      v.object({ opened: number(12), shut: number(3), removed: number(0) }),
      v.description("Accounts that open, that are made but stay shut, and that are removed with their homes"),
    ),
  }),
  v.title("FleetPreview"),
);

export const HostGroupRecord = v.pipe(
  v.object({
    id,
    name: groupName,
    hosts: v.array(hostName),
    users: v.pipe(number(12), v.description("How many users have it")),
    lease: v.pipe(v.nullable(described("4h")), v.description(`${LEASE}; null for none of its own`)),
    for_new_users: v.pipe(v.boolean(), v.metadata({ description: "Whether new users get it", examples: [false] })),
    created_at: timestamp,
  }),
  v.title("HostGroup"),
);

export const HostGroupList = v.object({ items: v.array(HostGroupRecord) });

const newHosts = someHosts("All hosts of the group");

export const NewHostGroup = v.pipe(
  v.object({ name: text("web", undefined, NAMES), hosts: newHosts, lease: newLease }),
  v.title("NewHostGroup"),
);

export const HostGroupChanges = v.pipe(
  v.object({
    name: v.optional(text("web", undefined, NAMES)),
    hosts: newHosts,
    add: someHosts("Hosts that join, instead of `hosts`"),
    remove: someHosts("Hosts that leave, instead of `hosts`"),
    lease: newLease,
    for_new_users: v.optional(
      v.pipe(
        v.boolean(),
        v.metadata({
          description: "true: new users get this group, instead of the one that they got before",
          examples: [true],
        }),
      ),
    ),
  }),
  v.title("HostGroupChanges"),
);

export const UserHosts = v.pipe(
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
          v.description("Whether the host has applied what is stored, has not yet, or cannot"),
        ),
        since: timestamp,
        removing: v.pipe(
          v.boolean(),
          v.metadata({
            description: "The user no longer has the host, and it has not yet removed the account",
            examples: [false],
          }),
        ),
        problem: described("The uid 60007 belongs to bob", "What is in the way; empty where nothing is"),
        lease_until: v.pipe(moment, v.description("As of the host")),
      }),
    ),
  }),
  v.title("UserHosts"),
);

export const UserHostChanges = v.pipe(
  v.object({
    hosts: listOf(text("web1", undefined, { maxLength: 63 }), MOST_NAMES, "All that are given by name"),
    groups: listOf(text("web", undefined, { maxLength: 63 }), MOST_NAMES, "All that are given by group"),
  }),
  v.title("UserHostChanges"),
);

export const OwnHosts = v.pipe(
  v.object({
    items: v.array(
      v.object({
        name: hostName,
        state: v.picklist(["applied", "pending", "problem"]),
        ssh: v.nullable(
          v.object({
            host: described("web1.example.org"),
            port: number(22),
            host_keys: v.array(described("SHA256:ZtHGr0JRRTR5c1mBn4VgxoGuxWVfuZ7mjuDrT5JDNDs (ED25519)")),
            command: described("ssh ext_alice@web1.example.org"),
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

function someHosts(description: string) {
  return v.optional(listOf(text("web1", "A host's name", { maxLength: 63 }), MOST_NAMES, description));
}

function number(example: number) {
  return v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([example]));
}
