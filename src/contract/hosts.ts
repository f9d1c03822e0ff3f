/** /hosts: the machines that have accounts. */

import * as v from "valibot";
import { HOST_PROBLEM_KINDS } from "../protocol/fleet.ts";
import { HOST_KINDS, HOST_STATUSES, USER_STATUSES } from "../shared/product/statuses.ts";
import { HOST_NAME } from "../shared/text/host-name.ts";
import { CONFIRMED, CONFIRMING, confirmation, NOT_CONFIRMED } from "./confirmation.ts";
import {
  count,
  described,
  expiry,
  HostIdParams,
  id,
  PageQuery,
  pageFields,
  pageIn,
  pageOf,
  person,
  text,
  timestamp,
} from "./fields.ts";
import { FleetPreview, PreviewQuery, previewed } from "./preview.ts";
import { profilesSaid } from "./profiles/said.ts";
import { operators, owners, type Routes } from "./route.ts";

export const NAMES = { pattern: HOST_NAME.source, maxLength: 63 };
export const LEASE = "How long it stays open without the service: from `5m` to `7d`, or `none` for without end";
const LEASE_ENDS = ["logins", "sessions"] as const;

export const hostName = described("web1");
export const groupName = described("web");
export const newLease = v.optional(v.nullable(text("4h", `${LEASE}; null for none of its own`)));

const JoinRequest = v.pipe(
  v.object({
    name: v.optional(text("web1", "The host's name; without it, the host chooses it", NAMES)),
    group: v.optional(text("web", "The group that it joins; without it, none", NAMES)),
    ...confirmation,
  }),
  v.title("JoinRequest"),
);

const JoinLine = v.pipe(
  v.object({
    line: described(
      "https://uam.example.org uamj_3lqbJZ0hZ1l2Qk5d0s8mYw9cT7vXnRgF4uEoPaKjLhs SHA256:b2Tn5hXvFQ8m1rYzJkLwPqRsTuVxYzA0B1C2D3E4F5G",
      "The argument of `uam agent join` on the host, as root: address, token, and the fingerprint of the service's key",
    ),
    expires_at: timestamp,
  }),
  v.title("JoinLine"),
);

const HostQuery = v.pipe(
  v.object({
    ...pageFields,
    q: v.optional(text("web", "A part of the name", { maxLength: 63 })),
    group: v.optional(text("web", "Only hosts in the group of this name", { maxLength: 63 })),
    status: v.optional(v.picklist(HOST_STATUSES)),
  }),
  v.transform(pageIn),
);

export const moment = v.nullable(timestamp);

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
  ssh_port: count(22),
  lease: v.pipe(v.nullable(described("4h")), v.description(`The lease in force. ${LEASE}; null for the service's own`)),
  own_lease: v.pipe(v.nullable(described("4h")), v.description("The host's own; null: as its groups say")),
  lease_ends: v.pipe(v.picklist(LEASE_ENDS), v.description("Ends with the lease: logins, or open sessions too")),
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

const HostRecord = v.pipe(v.object({ ...hostFields, problems: count(0) }), v.title("Host"));

export const HostProblemRecord = v.pipe(
  v.object({
    host: hostName,
    account: described("ext_alice", "Empty where it is about the host"),
    kind: v.pipe(
      v.picklist(HOST_PROBLEM_KINDS),
      v.description(
        "As the agent says, `conflict`: name or uid is somebody else's; `missing`: the account is gone; `refused`: a change failed, and is retried; `drift`: it differed, and was repaired (shown for a day); `finding`: as of `uam doctor`. As the service sees, `silent`, `lease_ended`, `diverged` and `unknown`, accounts that the database has lost (both until `uam fleet accept`), `clock`, `no_lease`, `locked`, and `profile`, one that the host says it does not hold",
      ),
    ),
    text: described("The uid 60007 belongs to bob", "The problem, as a sentence"),
    since: timestamp,
  }),
  v.title("HostProblem"),
);

const HostDetail = v.pipe(
  v.object({
    ...hostFields,
    host_keys: v.pipe(
      v.array(described("SHA256:ZtHGr0JRRTR5c1mBn4VgxoGuxWVfuZ7mjuDrT5JDNDs (ED25519)")),
      v.description("The fingerprints of its SSH host keys"),
    ),
    accounts: v.pipe(
      v.object({ total: count(12), open: count(9) }),
      v.description("How many users have an account there, and of how many it is open"),
    ),
    problems: v.array(HostProblemRecord),
    profiles: profilesSaid,
  }),
  v.title("HostDetail"),
);

const HostUserRecord = v.pipe(
  v.object({
    id,
    username: person.username,
    full_name: person.full_name,
    status: v.picklist(USER_STATUSES),
    expire_at: expiry,
    group: described("web", "The group by which they have the host; empty if it was given by name, or is taken away"),
    state: v.pipe(
      v.picklist(["applied", "pending", "problem"]),
      v.description("Whether the host has applied what is stored of them, has not yet, or cannot"),
    ),
    since: timestamp,
    removing: v.pipe(
      v.boolean(),
      v.metadata({
        description: "They no longer have the host, which has still to remove the account",
        examples: [false],
      }),
    ),
    problem: described("The uid 60007 belongs to bob", "Empty unless there is one"),
    sessions: v.pipe(
      v.nullable(count(1)),
      v.description("SSH logins that are open there; null where that is not known, as on hosts with agents"),
    ),
  }),
  v.title("HostUser"),
);

const HostChanges = v.pipe(
  v.object({
    name: v.optional(text("web1", undefined, NAMES)),
    lease: newLease,
    lease_ends: v.optional(v.picklist(LEASE_ENDS)),
  }),
  v.title("HostChanges"),
);

const JoinPreviewQuery = v.object({
  group: text("web", "The name of the group that the host would join", { maxLength: 63 }),
});

const flag = (description: string) => v.optional(v.pipe(v.picklist(["true", "false"]), v.description(description)));

const RetireQuery = v.object({
  ...PreviewQuery.entries,
  force: flag("`true`: forget the host at once. Its accounts stay there, and it is shut only when its lease ends"),
});

const RetirementRecord = v.pipe(
  v.object({
    status: v.picklist(["retiring", "forgotten"]),
    accounts: count(12),
    effective_by: v.pipe(
      moment,
      v.description("From then on nobody can log in there; null where that is not certain, because it has no lease"),
    ),
  }),
  v.title("Retirement"),
);

const NOT_THIS_HOST = "Final: it is the service's own host, or it is being retired";

export const hosts = {
  "GET /hosts": {
    operationId: "listHosts",
    summary: "List hosts",
    description: "The service's own first, then by name. All given filters must match.",
    who: operators,
    query: HostQuery,
    answer: pageOf(HostRecord),
  },
  "GET /hosts/:id": {
    operationId: "getHost",
    summary: "Read a host",
    description: "With its problems, the oldest first.",
    who: operators,
    params: HostIdParams,
    answer: HostDetail,
    refusals: { 404: true },
    reasons: ["host.missing"],
  },
  "GET /hosts/:id/users": {
    operationId: "listHostUsers",
    summary: "List the users with an account on a host",
    description:
      "By name. Among them are users who no longer have the host, as long as it has not removed their accounts.",
    who: operators,
    params: HostIdParams,
    query: PageQuery,
    answer: pageOf(HostUserRecord),
    refusals: { 404: true },
    reasons: ["host.missing"],
  },
  "GET /hosts/:id/preview": {
    operationId: "previewHostGroup",
    summary: "Preview adding a host to a group",
    description: "Changes nothing: the host joins by `PATCH /host-groups/{id}` with `add`.",
    who: operators,
    params: HostIdParams,
    query: JoinPreviewQuery,
    answer: FleetPreview,
    refusals: { 404: true, 409: true },
    reasons: ["host.missing", "host.retiring", "host_group.missing"],
  },
  "POST /hosts/tokens": {
    operationId: "createJoinToken",
    summary: "Make the line that joins a host",
    description: `Shown only this once, used for one host, and good for 30 minutes. Whoever has it can add a host, which then gets the accounts of its group: keep it to yourself. ${CONFIRMED} A token needs none of that.`,
    who: owners,
    records: "host_token.create",
    body: JoinRequest,
    bodyAs: "optional",
    status: 201,
    answer: JoinLine,
    refusals: { ...CONFIRMING, 404: true, 409: true },
    reasons: [...NOT_CONFIRMED, "host.taken", "host_group.missing"],
  },
  "PATCH /hosts/:id": {
    operationId: "updateHost",
    summary: "Change a host's name or lease",
    description: "Only the fields that are sent change. A lease holds from the agent's next request on.",
    who: owners,
    records: "host.update",
    params: HostIdParams,
    body: HostChanges,
    answer: HostDetail,
    refusals: { 404: true, 409: "The name is taken, or it is the service's own host" },
    reasons: ["host.missing", "host.local", "host.taken"],
  },
  "POST /hosts/:id/lock": {
    operationId: "lockHost",
    summary: "Shut a host as a whole",
    description:
      "Its agent lets nobody in from when it learns of it, within a second as a rule; a host that is cut off shuts at `lease_until`. Its accounts stay.",
    who: owners,
    params: HostIdParams,
    answer: HostDetail,
    refusals: { 404: true, 409: NOT_THIS_HOST },
    reasons: ["host.missing", "host.local", "host.retiring"],
  },
  "POST /hosts/:id/unlock": {
    operationId: "unlockHost",
    summary: "Open a locked host again",
    description:
      "With what is stored by now. The agent keeps its key: if the host was locked because the key was copied, do this only where you know why, such as a disk that was set back. Otherwise retire the host by force, and join it anew.",
    who: owners,
    params: HostIdParams,
    answer: HostDetail,
    refusals: { 404: true, 409: NOT_THIS_HOST },
    reasons: ["host.missing", "host.local", "host.retiring"],
  },
  "DELETE /hosts/:id": {
    operationId: "retireHost",
    summary: "Retire a host",
    description:
      "All its accounts are shut and removed there; once its agent has confirmed that, the host is forgotten. With `force` it is forgotten at once: its accounts stay there, and `effective_by` says until when they may be open.",
    who: owners,
    params: HostIdParams,
    query: RetireQuery,
    answer: previewed(FleetPreview, RetirementRecord),
    refusals: {
      404: true,
      409: "It has not been heard of lately (start its agent, or use `force`), or it is the service's own host (final)",
    },
    reasons: ["host.missing", "host.local", "host.unreachable"],
  },
} as const satisfies Routes;
