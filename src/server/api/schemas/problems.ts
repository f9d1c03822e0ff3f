/** What is left to do on the host, in answers. */

import * as v from "valibot";
import { CLOSING_KINDS } from "../../../shared/statuses.ts";
import { described, id, timestamp } from "../schemas.ts";
import { HostProblemRecord } from "./hosts.ts";

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

const total = v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([1]));

export const ProblemPage = v.object({
  total,
  items: v.array(ProblemRecord),
  hosts: v.optional(
    v.pipe(
      v.object({ total, items: v.array(HostProblemRecord) }),
      v.description("What is wrong with hosts; only where there are others than the service's own"),
    ),
  ),
});
