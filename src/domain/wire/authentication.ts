/**
 * Authenticates agents' requests: signed by the host's stored key, over a nonce of ours, with a counter that rises. A request without
 * a valid signature changes nothing.
 */

import { Buffer } from "node:buffer";
import type { KeyObject } from "node:crypto";
import { inArray, type SQL, sql } from "drizzle-orm";
import type { Place } from "../../protocol/fleet.ts";
import {
  type AgentCredentials,
  checkingKey,
  isSignedByInBackground,
  parseAuthorization,
} from "../../protocol/fleet-signature.ts";
import { UamError } from "../../shared/errors.ts";
import { SECOND } from "../../shared/time/clock.ts";
import { FOREVER } from "../../shared/time/lease.ts";
import type { Database } from "../../store/client.ts";
import { hosts } from "../../store/schema-fleet.ts";
import { type AdmittedHost, HOST_FIELDS, type HostFields, hostOf, LEASE } from "../hosts/host-row.ts";
import type { Services } from "../operation/context.ts";
import { createGroupCommit, type HostItem } from "../operation/group-commit.ts";
import { lockCopied } from "../recovery/cloned-agent.ts";
import { fleetSecrets } from "./fleet-key.ts";

/** A request as it came. */
export interface AgentRequest {
  readonly method: string;
  /** Path and query below the API's root. */
  readonly target: string;
  readonly body: Uint8Array;
  /** The header `Authorization`; "" without one. */
  readonly authorization: string;
}

/** A request that the host's key signed, whether or not it is fresh. */
export interface Identified {
  readonly credentials: AgentCredentials;
  /** The key that it is signed with, in base64. */
  readonly key: string;
}

/** A request that renews the host's lease with its answer. */
export interface Renewal {
  /**
   * How many milliseconds the host stays open without any further answer, as it reports; Infinity for a host that stays open without the
   * service, undefined if it does not say. An agent no longer accepts an answer to an earlier request: it has one under way at a time.
   */
  readonly held: number | undefined;
  /** The record up to which the host has applied everything, if it says so and the log has that record. */
  readonly applied: Place | undefined;
}

/** The outcome of a correctly signed request. `nonceAt` is the newest nonce that the host used. */
export type Admission =
  | { readonly kind: "admitted"; readonly host: AdmittedHost; readonly nonceAt: number }
  /** No nonce of ours, or an old one: to be sent again with a fresh one. */
  | { readonly kind: "stale"; readonly nonceAt: number }
  /** This very request was answered before. */
  | { readonly kind: "repeated"; readonly nonceAt: number }
  | { readonly kind: "copied"; readonly nonceAt: number }
  /** The key is no longer the host's. */
  | { readonly kind: "unknown" };

export interface Authenticator {
  /** Throws `unauthorized` for anything but a request that the host's key signed. */
  identify(request: AgentRequest): Promise<Identified>;
  /**
   * Notes that the host was heard from and, if it asks for a state (`renewal`), until when its lease lasts; committed when it resolves.
   * A key that turns out to be in two places locks the host; the answer says so.
   */
  admit(identified: Identified, renewal: Renewal | undefined): Promise<Admission>;
  /** The host's key was changed: the remembered one is void. */
  forget(host: number): void;
}

/** The service counts a lease longer than the agent does, in parts of a hundred. */
const TOLERANCE = 101;
/** The key of a host is looked up again after a wrong signature, but not more often than this. */
const RELOAD = SECOND;

interface KnownKey {
  readonly base64: string;
  readonly key: KeyObject;
  /** Milliseconds, of the process's own clock. */
  readonly readAt: number;
}

export function createAuthenticator(services: Services): Authenticator {
  const { autocommit, clock, seal } = services;
  const secrets = fleetSecrets(seal);
  const keys = new Map<number, KnownKey>();
  const admitAll = createGroupCommit((items: readonly Claim[]) => store(autocommit, items, clock.now()));

  const readKeys = createGroupCommit((items: readonly HostItem[]) => read(items.map(({ host }) => host)));

  /** Of all that are asked for within a moment at once: after a start that is every host. */
  async function read(ids: readonly number[]): Promise<readonly (KnownKey | "none")[]> {
    const rows = await autocommit
      .select({ id: hosts.id, publicKey: hosts.publicKey })
      .from(hosts)
      .where(inArray(hosts.id, [...ids]));
    const readAt = performance.now();
    const found = new Map(rows.map(({ id, publicKey }) => [id, publicKey]));
    return ids.map((id) => {
      const bytes = found.get(id);
      keys.delete(id);
      if (bytes == null) return "none";
      const known = { base64: Buffer.from(bytes).toString("base64"), key: checkingKey(bytes), readAt };
      keys.set(id, known);
      return known;
    });
  }

  return {
    forget: (host) => void keys.delete(host),
    identify: async ({ method, target, body, authorization }) => {
      const credentials = parseAuthorization(authorization);
      if (credentials === undefined) throw unknownAgent();
      const { host, counter, nonce, signature } = credentials;
      const request = { method, target, body, host, counter, nonce };
      const holds = ({ key }: KnownKey) => isSignedByInBackground(key, request, signature);
      const cached = keys.get(host);
      if (cached !== undefined && (await holds(cached))) return { credentials, key: cached.base64 };
      // Another replica may have stored a new one.
      if (cached !== undefined && performance.now() - cached.readAt < RELOAD) throw unknownAgent();
      const stored = await readKeys({ host });
      if (stored === "none" || stored.base64 === cached?.base64 || !(await holds(stored))) throw unknownAgent();
      return { credentials, key: stored.base64 };
    },
    admit: async ({ credentials, key }, renewal) => {
      const { host, counter, nonce } = credentials;
      const held = renewal?.held === Number.POSITIVE_INFINITY ? HELD_FOREVER : (renewal?.held ?? null);
      const nonceAt = secrets.nonceMoment(host, nonce) ?? 0;
      const { id: appliedId = null, seal: appliedSeal = "" } = renewal?.applied ?? {};
      const claim = { host, counter, key, nonceAt, renews: renewal !== undefined, held, appliedId, appliedSeal };
      const admission = await admitAll(claim);
      if (admission.kind === "unknown") keys.delete(host);
      if (admission.kind !== "copied") return admission;
      await lockCopied(services, host);
      // A locked host is told that it is locked, whether the agent or the copy asks.
      return await admitAll(claim);
    },
  };
}

function unknownAgent(): UamError {
  const sentence = "The request is not signed by the key of a host that this service knows";
  return new UamError("unauthorized", sentence, { reason: "agent.unknown" });
}

interface Claim {
  readonly host: number;
  readonly counter: number;
  /** In base64. */
  readonly key: string;
  /** 0 for a nonce that is none. */
  readonly nonceAt: number;
  readonly renews: boolean;
  /** Milliseconds, or HELD_FOREVER; null where the host did not say. */
  readonly held: number | null;
  /** Null where the host does not say. */
  readonly appliedId: number | null;
  readonly appliedSeal: string;
}

/** Stands for Infinity, which JSON cannot say. */
const HELD_FOREVER = -1;

/** One statement for all of them: its row locks, taken in one order, make each decision final. */
async function store(db: Database, claims: readonly Claim[], now: Date): Promise<readonly Admission[]> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const endOf = (length: SQL, endless: number) => sql`case ${length} when ${endless} then ${FOREVER}::timestamptz
    else ${at} + ${length} * ${TOLERANCE}::bigint / 100 * interval '1 millisecond' end`;
  // The host's reported lease replaces the promised one; but a copy of its key does not know the host's lease.
  const before = sql`case when r.held is null or was.status = 'locked' then h.lease_until else ${endOf(sql`r.held`, HELD_FOREVER)} end`;
  const rows = await db.execute<Stored>(sql`
    with r as (
      select * from json_to_recordset(${JSON.stringify(claims)}::text::json)
        as r(host int, counter bigint, key text, "nonceAt" bigint, renews boolean, held bigint,
          "appliedId" bigint, "appliedSeal" text)),
    was as materialized (
      select h.id, h.counter, h.nonce_at, h.last_seen_at, h.status from hosts h join r on r.host = h.id
      where h.public_key = decode(r.key, 'base64') order by h.id for update of h),
    done as (
      update hosts h set counter = greatest(was.counter, r.counter), nonce_at = r."nonceAt", last_seen_at = ${at},
        applied_id = coalesce(r."appliedId", h.applied_id),
        applied_seal = case when r."appliedId" is null then h.applied_seal else r."appliedSeal" end,
        lease_until = case when not r.renews then h.lease_until else greatest(${before}, ${endOf(LEASE, 0)}) end
      from r join was on was.id = r.host
      where h.id = was.id and ((r."nonceAt" >= was.nonce_at and r."nonceAt" > 0 and r.counter > was.counter)
        or (r."nonceAt" > was.nonce_at and was.status = 'locked'))
      returning ${HOST_FIELDS})
    select r.host, was.counter as was_counter, was.nonce_at as was_nonce,
      floor(extract(epoch from was.last_seen_at) * 1000)::bigint as was_seen, done.*
    from r left join was on was.id = r.host left join done on done.id = r.host`);
  const byHost = new Map(rows.map((row) => [Number(row.host), row]));
  return claims.map((claim) => admissionOf(claim, byHost.get(claim.host)));
}

interface Stored extends HostFields {
  readonly host: number;
  readonly was_counter: string | null;
  readonly was_nonce: string | null;
  /** When the last request that was taken came, in milliseconds; null before the first. */
  readonly was_seen: string | null;
}

function admissionOf(claim: Claim, row: Stored | undefined): Admission {
  if (row === undefined || row.was_counter === null) return { kind: "unknown" };
  const before = Number(row.was_nonce);
  if (row.id !== null) {
    const applied = claim.appliedId === null ? undefined : `${claim.appliedId}.${claim.appliedSeal}`;
    return { kind: "admitted", host: { ...hostOf(row), applied }, nonceAt: claim.nonceAt };
  }
  if (claim.nonceAt === 0 || claim.nonceAt < before) return { kind: "stale", nonceAt: before };
  // A proxy that lost the answer may send a request again: no reason to suspect anybody.
  if (claim.nonceAt === before) return { kind: "repeated", nonceAt: before };
  // Made out before the last request came, its nonce was the agent's own: a proxy kept this one back, and had the agent go on with an
  // older nonce, since the header with the nonce is not signed. A holder of a copied key asks for a nonce first, and that one is
  // newer.
  if (claim.nonceAt <= Number(row.was_seen ?? 0)) return { kind: "stale", nonceAt: before };
  return { kind: "copied", nonceAt: before };
}
