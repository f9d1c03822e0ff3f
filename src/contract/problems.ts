/** What is left to do on the host, in answers. */

import * as v from "valibot";
import { CLOSING_KINDS } from "../shared/statuses.ts";
import { described, id, timestamp } from "./fields.ts";
import { HostProblemRecord } from "./hosts.ts";
import { lag } from "./webhooks.ts";

export const ProblemRecord = v.pipe(
  v.object({
    id,
    user_id: id,
    username: described("alice", "Empty if the user is deleted"),
    kind: v.pipe(
      v.picklist(CLOSING_KINDS),
      v.description(
        "What is being taken away: `shut` all access, `remove` the account for good, `revoke` one key, `narrow` logins from some networks, `leave` the account on the service's own host alone",
      ),
    ),
    since: timestamp,
    attempts: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.metadata({ description: "0 while the first one is under way, or if it was cut short", examples: [3] }),
    ),
    next_attempt_at: timestamp,
    problem: described(
      "The account ext_alice still has 1 running process",
      "What is left to do, in sentences; empty before the first attempt ended",
    ),
  }),
  v.title("Problem"),
);

export const AwayRecord = v.pipe(
  v.object({
    kind: v.picklist(["webhook", "stream"]),
    id: v.pipe(v.nullable(id), v.description("The webhook; null for the stream")),
    name: described("https://hooks.example.org", "Where it is, without what may be secret"),
    since: v.nullable(timestamp),
    lag: lag,
    problem: described("hooks.example.org refuses connections", "What the last attempt failed for"),
  }),
  v.title("Receiver"),
);

const total = v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([1]));

export const ProblemPage = v.object({
  total,
  items: v.array(ProblemRecord),
  receivers: v.array(AwayRecord),
  hosts: v.optional(
    v.pipe(
      v.object({ total, items: v.array(HostProblemRecord) }),
      v.description("What is wrong with hosts; only where there are others than the service's own"),
    ),
  ),
});
