/**
 * Parses the service's answers to agents: signed, and read strictly all the same, because they become accounts and keys.
 */

import * as v from "valibot";
import { hostAccountOf, USERNAME_PATTERN } from "../shared/text/account-name.ts";
import { type Enrolled, type FleetKey, type HostState, MAX_PROFILES, MAX_SPANS, parseCursor } from "./fleet.ts";

const base64OfKey = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{43}=$/));
const ref = {
  name: v.pipe(v.string(), v.regex(new RegExp(`^${hostAccountOf(USERNAME_PATTERN)}$`))),
  uid: v.pipe(v.number(), v.integer(), v.minValue(1000), v.maxValue(0xffff_fffd)),
};
const hostKey = v.object({
  id: v.pipe(v.number(), v.integer(), v.minValue(1)),
  type: v.pipe(v.string(), v.regex(/^[a-z0-9@.-]{1,64}$/)),
  base64: v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{1,8192}={0,2}$/)),
  fingerprint: v.pipe(v.string(), v.regex(/^SHA256:[A-Za-z0-9+/]{43}$/)),
  networks: v.optional(v.array(v.pipe(v.string(), v.regex(/^[0-9a-fA-F.:]{2,45}\/\d{1,3}$/)))),
});
const moment = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  v.check((text) => !Number.isNaN(Date.parse(text))),
);
const hours = v.object({
  until: moment,
  windows: v.pipe(v.array(v.object({ from: moment, to: moment })), v.maxLength(MAX_SPANS)),
  zone: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9_+/-]{0,59}$/))),
});
const text = (length: number) => v.pipe(v.string(), v.maxLength(length));
const texts = v.pipe(v.array(text(300)), v.maxLength(1000));
/** Whether it can be held is for the host to say. */
const profile = v.object({
  name: text(64),
  kind: v.picklist(["shell", "sftp", "forward", "command"]),
  secondFactor: v.picklist(["none", "verified"]),
  attestation: v.exactOptional(v.literal("required")),
  directory: v.exactOptional(text(4096)),
  readOnly: v.exactOptional(v.boolean()),
  umask: v.exactOptional(text(8)),
  targets: v.exactOptional(texts),
  forwarding: v.exactOptional(v.union([v.boolean(), texts])),
  command: v.exactOptional(text(100)),
  idleSeconds: v.exactOptional(v.number()),
  maxSessions: v.exactOptional(v.number()),
  banner: v.exactOptional(text(4096)),
  groups: v.exactOptional(texts),
  sudo: v.exactOptional(texts),
});
const accountState = v.object({
  ...ref,
  expire_at: moment,
  open: v.boolean(),
  keys: v.array(hostKey),
  profile: v.optional(text(64)),
  hours: v.optional(hours),
  hours_end: v.optional(v.literal("logins")),
});
const cursor = v.pipe(
  v.string(),
  v.check((text) => parseCursor(text) !== undefined),
);
const hostState = v.object({
  cursor,
  lease_ms: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1))),
  lease_ends: v.picklist(["logins", "sessions"]),
  status: v.picklist(["active", "locked", "retiring"]),
  full: v.boolean(),
  cautious: v.boolean(),
  accounts: v.array(accountState),
  removed: v.array(v.object(ref)),
  recorded_locks: v.array(v.string()),
  end_sessions: v.picklist(["key", "all", "none"]),
  applied: v.optional(cursor),
  now: v.optional(moment),
  profiles: v.optional(v.pipe(v.array(profile), v.maxLength(MAX_PROFILES))),
});
const enrolled = v.object({
  host_id: v.pipe(v.number(), v.integer(), v.minValue(2)),
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
});
const fleetKey = v.object({ public_key: base64OfKey, signature: v.string() });

/** The state; undefined if it is not one. Members that this version does not know are left out. */
export function parseHostState(value: unknown): HostState | undefined {
  return outputOf(hostState, value);
}

/** The answer to an enrolment; undefined if it is none. */
export function parseEnrolled(value: unknown): Enrolled | undefined {
  return outputOf(enrolled, value);
}

/** The service's claimed identity; undefined for another value. The signature is still to be checked. */
export function parseFleetKey(value: unknown): FleetKey | undefined {
  return outputOf(fleetKey, value);
}

function outputOf<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T | undefined {
  const result = v.safeParse(schema, value);
  return result.success ? result.output : undefined;
}
