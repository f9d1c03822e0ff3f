/** The wanted state of a host: what its agent asks, and what it is answered. */

import * as v from "valibot";
import { HOST_STATUSES } from "../../shared/product/statuses.ts";
import { isTimestamp, parseTimestamp } from "../../shared/time/timestamp.ts";
import { described, id } from "../fields.ts";
import { HostProfileRecord } from "./profile.ts";

const flag = (description: string) => v.pipe(v.boolean(), v.metadata({ description, examples: [false] }));

/** A place in the log, or nothing. */
const CURSOR = /^(?:[1-9]\d{0,15}\.[0-9a-f]{64})?$/;

export const StateQuery = v.object({
  since: v.optional(v.pipe(v.string(), v.metadata({ description: "The agent's cursor; none for everything" })), ""),
  wait: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,2}$/, "must be a number of seconds below 100"),
      v.metadata({ type: "integer", minimum: 0, maximum: 99, description: "Seconds to wait for news, at most 60" }),
      v.transform(Number),
    ),
    "0",
  ),
  held: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:\d{1,9}|none)$/, 'must be a number of seconds, or "none"'),
      v.metadata({
        description:
          'For how many seconds the host stays open without any further answer; "none" for no limit. If a lease was shortened, `lease_until` of the host follows from it',
      }),
    ),
  ),
  reads: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[a-z0-9@.-]{1,64}(?:,[a-z0-9@.-]{1,64}){0,9}$/, "must be types of keys"),
      v.metadata({
        description:
          "The newer types of keys that this agent can read, with commas between them: it gets no other newer ones",
      }),
      v.transform((types) => types.split(",")),
    ),
  ),
  hours: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => text === "none" || isTimestamp(text), 'must be a time, or "none"'),
      v.metadata({
        description:
          'The agent keeps hours: until when it knows those of its accounts, or "none" if none has any. Without it, accounts with hours are shut',
      }),
      v.transform((text) => (text === "none" ? text : parseTimestamp(text))),
    ),
  ),
  profiles: v.optional(
    v.pipe(
      v.literal("1", 'must be "1"'),
      v.metadata({ description: "The agent holds profiles. Without it, accounts with a profile are shut" }),
    ),
  ),
  applied: v.optional(
    v.pipe(
      v.string(),
      v.regex(CURSOR, "must be a cursor"),
      v.metadata({
        description:
          "Everything up to here is applied, and there is nothing else to report: counts like a report, and is in the answer as `applied`",
      }),
    ),
  ),
});

const ref = { name: described("ext_alice"), uid: v.pipe(v.number(), v.integer(), v.examples([20_001])) };

export const HostStateRecord = v.pipe(
  v.object({
    cursor: described(`7.${"0123456789abcdef".repeat(4)}`),
    lease_ms: v.pipe(
      v.nullable(v.pipe(v.number(), v.integer())),
      v.metadata({
        description: "Counted from when the agent sent the request; null for no end",
        examples: [14_400_000],
      }),
    ),
    lease_ends: v.picklist(["logins", "sessions"]),
    status: v.picklist(HOST_STATUSES),
    full: flag("Whether `accounts` are all that the host should have"),
    cautious: flag("The agent must not open anything shut, or remove anything unknown"),
    accounts: v.array(
      v.object({
        ...ref,
        expire_at: described("2027-02-18T08:00:00.000Z"),
        open: flag("Whether it lets anybody in"),
        keys: v.array(
          v.object({
            id,
            type: described("ssh-ed25519"),
            base64: described("AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"),
            fingerprint: described("SHA256:ZtHGr0JRRTR5c1mBn4VgxoGuxWVfuZ7mjuDrT5JDNDs"),
            networks: v.optional(v.array(described("192.0.2.0/24"))),
          }),
        ),
        profile: v.optional(described("drop-box", "The profile, of those in `profiles`, that says what it may do")),
        hours: v.optional(
          v.pipe(
            v.object({
              until: described("2026-12-05T08:00:00.000Z"),
              windows: v.array(
                v.object({
                  from: described("2026-11-27T07:00:00.000Z"),
                  to: described("2026-11-27T17:00:00.000Z"),
                }),
              ),
            }),
            v.description("It is open only in these windows, which are all until then"),
          ),
        ),
        hours_end: v.optional(
          v.pipe(
            v.literal("logins"),
            v.description("Only logins end with the hours; without it, sessions and jobs, too"),
          ),
        ),
      }),
    ),
    removed: v.array(v.object(ref)),
    recorded_locks: v.array(described("0b5e7a52-6c1f-4a2e-9d1b-3f4c5d6e7f80")),
    end_sessions: v.picklist(["key", "all", "none"]),
    applied: v.optional(described(`7.${"0123456789abcdef".repeat(4)}`, "The request's, once it counts")),
    profiles: v.optional(
      v.pipe(v.array(HostProfileRecord), v.description("All that accounts may have, for agents that hold profiles")),
    ),
    now: v.optional(described("2026-11-27T08:00:00.000Z", "The service's clock, for agents that keep hours")),
  }),
  v.title("HostState"),
);
