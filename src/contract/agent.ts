/**
 * /agent: requests and reports of the agents on further hosts (docs/fleet-protocol.md). Another machine sends them, so they are bounded.
 */

import * as v from "valibot";
import { MAX_PROBLEMS, MAX_PROFILES, MAX_TEXT, MAX_UNKNOWN, PROBLEM_KINDS } from "../protocol/fleet.ts";
import { hostAccountOf, USERNAME_PATTERN } from "../shared/text/account-name.ts";
import { ProfileStateBody } from "./agent/profile.ts";
import { HostStateRecord, StateQuery } from "./agent/state.ts";
import { described, id, listOf } from "./fields.ts";
import { agents, anyoneWithin, type Refusals, type Routes } from "./route.ts";

/** Most of them in one report; more are reported with the next. */
const MAX_LOCKS = 100;
const MAX_HOLDS = 10;
const MAX_HOST_KEYS = 20;

function bounded(example: string, maximum: number, description?: string) {
  return v.pipe(
    v.string(),
    v.maxLength(maximum, `must have at most ${maximum} characters`),
    v.regex(/^[^\0]*$/, "must not contain NUL characters"),
    v.metadata({ examples: [example], ...(description === undefined ? {} : { description }) }),
  );
}

const moment = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, "must be a time as in 2026-11-20T08:00:00.000Z"),
  v.check((text) => !Number.isNaN(Date.parse(text)), "must be a valid date and time"),
  v.metadata({ type: "string", format: "date-time", examples: ["2026-11-20T08:00:00.000Z"] }),
);

/** A name for something that the agent made once. */
const ownId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9-]{1,64}$/, "must have 1 to 64 letters, digits and dashes"),
  v.examples(["0b5e7a52-6c1f-4a2e-9d1b-3f4c5d6e7f80"]),
);

const publicKey = bounded("O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik=", 100, "32 bytes of Ed25519 in base64");
const mode = v.picklist(["dry-run", "direct", "sudo"]);
const version = bounded("0.4.0", 64);
const cursor = bounded(`7.${"0123456789abcdef".repeat(4)}`, 100, "A place in the audit log; empty for the beginning");
const ssh = v.object({
  host: bounded("web1.example.org", 253, "How clients reach the host's sshd"),
  port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535), v.examples([22])),
  host_keys: listOf(
    v.object({
      type: bounded("ssh-ed25519", 64),
      base64: bounded("AAAAC3NzaC1lZDI1NTE5AAAAILaNJJBGzPmkiX3Z160Q00v6FSEYUOHcfhr2QsREXeNz", 4096),
      fingerprint: bounded("SHA256:ZtHGr0JRRTR5c1mBn4VgxoGuxWVfuZ7mjuDrT5JDNDs", 64),
    }),
    MAX_HOST_KEYS,
  ),
});

const KeyQuery = v.object({
  challenge: v.pipe(
    v.string(),
    v.regex(/^[\w+/=.-]{1,200}$/, "must have 1 to 200 letters, digits and + / = . _ -"),
    v.metadata({ description: "The text that the service signs", examples: ["k3Jx0f2Q"] }),
  ),
});

const FleetKeyRecord = v.pipe(
  v.object({ public_key: publicKey, signature: described("MEUCIQ…", "Over the challenge, in base64") }),
  v.title("FleetKey"),
);

const Enrolment = v.pipe(
  v.object({
    token: bounded(`uamj_${"A".repeat(43)}`, 200, "From the line that `uam host token` prints"),
    name: bounded("web1", 64, "The name that the host asks for; the token's name takes precedence"),
    public_key: publicKey,
    mode,
    version,
    ssh,
    highest_uid: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff), v.examples([20_007])),
  }),
  v.title("Enrolment"),
);

const EnrolledRecord = v.pipe(v.object({ host_id: id, name: described("web1") }), v.title("Enrolled"));

const accountName = v.pipe(
  v.string(),
  v.regex(new RegExp(`^${hostAccountOf(USERNAME_PATTERN)}$`), "must be the name of a host account"),
  v.examples(["ext_alice"]),
);
const accountUid = v.pipe(v.number(), v.integer(), v.minValue(1000), v.maxValue(2_147_483_647), v.examples([20_001]));

const text = bounded("The account ext_alice is missing", MAX_TEXT);

const ReportBody = v.pipe(
  v.object({
    cursor,
    mode,
    version,
    ssh,
    clock: moment,
    problems: listOf(
      v.object({ account: bounded("ext_alice", 64), kind: v.picklist(PROBLEM_KINDS), text }),
      MAX_PROBLEMS,
    ),
    locks: listOf(
      v.object({ id: ownId, at: moment, username: bounded("alice", 64), operator: bounded("root", 64) }),
      MAX_LOCKS,
    ),
    holds: listOf(
      v.object({
        ...{ id: ownId, at: moment, until: moment },
        ...{ reason: bounded("The service is being moved", MAX_TEXT), operator: bounded("root", 64) },
      }),
      MAX_HOLDS,
    ),
    unknown: v.optional(
      listOf(
        v.object({ name: accountName, uid: accountUid }),
        MAX_UNKNOWN,
        "Accounts that the service told of once and that its last full answer did not name",
      ),
    ),
    profiles: v.optional(
      listOf(ProfileStateBody, MAX_PROFILES, "Which profiles the host holds; absent from an agent that knows none"),
    ),
  }),
  v.title("HostReport"),
);

const RotationBody = v.pipe(
  v.object({ public_key: publicKey, signature: bounded("MEUCIQ…", 100, "By the new key, over the current one") }),
  v.title("Rotation"),
);

/** The answer to a report and to a new key: there is nothing more to say. */
const Taken = v.object({ status: v.literal("done") });

/** Why an agent is refused. */
const AGENT_FAILURES = {
  401: "`agent.stale`: send the request again with the nonce of this answer. `agent.unknown`: no host's key signed it",
  409: "This request was answered before: go on with the next counter",
  429: "Too much at once, or too many requests that no host signed; Retry-After says when to try again",
} as const satisfies Refusals;

export const agent = {
  "GET /agent/key": {
    operationId: "getFleetKey",
    summary: "Get the service's identity",
    description: "Its key, whose fingerprint is in the line that joins a host, and a proof that it has it.",
    who: anyoneWithin("join"),
    query: KeyQuery,
    answer: FleetKeyRecord,
  },
  "POST /agent/enrol": {
    operationId: "enrolHost",
    summary: "Join a host",
    description: "Binds the agent's own key. The answer is signed over the hash of the body.",
    who: anyoneWithin("join"),
    body: Enrolment,
    bodyAs: "agent",
    status: 201,
    answer: EnrolledRecord,
    refusals: {
      401: "The token is wrong, was used, or has ended",
      409: "The name or the key is another host's, or the host's uids leave too few",
    },
    reasons: ["host_token.wrong", "host.key_taken", "host.taken", "host.uids", "host.refused"],
  },
  "GET /agent/state": {
    operationId: "getHostState",
    summary: "Get the wanted state of the host",
    description:
      "The changes since the cursor, or everything. Without news the request is held for at most 60 seconds. Each answer renews the lease.",
    who: agents,
    query: StateQuery,
    answer: HostStateRecord,
    refusals: {
      ...AGENT_FAILURES,
      503: "The newest audit record cannot be read: without it no lease is granted",
    },
    reasons: ["agent.no_head", "agent.busy", "service.busy"],
  },
  "POST /agent/report": {
    operationId: "reportHost",
    summary: "Report the state of the host",
    description: "The applied position, and the current problems there. The same report again changes nothing.",
    who: agents,
    body: ReportBody,
    bodyAs: "agent",
    answer: Taken,
    refusals: AGENT_FAILURES,
    reasons: ["agent.busy"],
  },
  "POST /agent/rotate": {
    operationId: "rotateAgentKey",
    summary: "Change the agent's key",
    description: "Signed with the current key, which is void once this is answered.",
    who: agents,
    body: RotationBody,
    bodyAs: "agent",
    answer: Taken,
    refusals: AGENT_FAILURES,
    reasons: ["host.key_taken", "state.conflict"],
  },
} as const satisfies Routes;
