/** Tokens for joining: each binds one agent to a host, once, within half an hour. */

import { createHash, randomBytes } from "node:crypto";
import { and, eq, gt, lte } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { parseHostName } from "../../shared/text/host-name.ts";
import { MINUTE, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Transaction } from "../../store/client.ts";
import { admins } from "../../store/schema-auth.ts";
import { hostGroups, hosts, joinTokens } from "../../store/schema-fleet.ts";
import { askingAdmin } from "../auth/administrators/left-behind.ts";
import { type Confirmation, confirmPerson } from "../auth/factors/step-up.ts";
import type { OwnSession } from "../auth/sessions/sessions.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { nameForPeople } from "../operation/entry.ts";
import { fleetSecrets } from "./fleet-key.ts";

export const JOIN_TOKEN_PREFIX = "uamj_";
/** How long a token can be used. */
export const JOIN_TOKEN_TTL = 30 * MINUTE;

export interface NewJoinToken {
  /** The host's name; by default, the host chooses it. */
  readonly name?: string | undefined;
  /** The group that it joins, by name. */
  readonly group?: string | undefined;
}

/** The line with which a person joins a host; the token is stored nowhere, so it is shown only this once. */
export interface JoinLine {
  /** `https://uam.example.org uamj_… SHA256:…`: where, with which token, and by which key the service proves itself. */
  readonly line: string;
  readonly expiresAt: Date;
}

/**
 * Makes a token for the caller, who confirms again who they are: a host that joins stays. Throws as `confirmCaller` and `createJoinToken` do.
 */
export async function createOwnJoinToken(
  context: Context,
  session: OwnSession,
  wanted: NewJoinToken,
  confirmation: Confirmation,
): Promise<JoinLine> {
  await confirmPerson(context, session, confirmation, { action: "host_token.create", detail: askedOf(wanted) });
  return await createJoinToken(context, wanted);
}

/**
 * Makes a token. Throws `invalid` for a text that is not a name, `conflict` for a name that is taken, and `not_found` for an unknown
 * group.
 */
export async function createJoinToken(context: Context, { name: wanted, group }: NewJoinToken): Promise<JoinLine> {
  const detail = askedOf({ name: wanted, group });
  return await audited(context, { action: "host_token.create", detail }, async (op) => {
    const madeBy = askingAdmin(context);
    // Guards against a simultaneous removal or role change: the second one sees the first one's change.
    if (madeBy !== null) await op.tx.select({ id: admins.id }).from(admins).where(eq(admins.id, madeBy)).for("share");
    const name = wanted === undefined ? "" : parseHostName("host", wanted);
    if (name !== "") await requireFree(op.tx, name);
    const groupId = group === undefined ? null : await groupOf(op.tx, group);
    const now = context.clock.now();
    const expiresAt = shift(now, JOIN_TOKEN_TTL);
    const token = JOIN_TOKEN_PREFIX + randomBytes(32).toString("base64url");
    // Expired tokens are of no use to anybody.
    await op.tx.delete(joinTokens).where(lte(joinTokens.expiresAt, now));
    const createdBy = nameForPeople(context.actor);
    const tokenHash = hashJoinToken(token);
    await op.tx.insert(joinTokens).values({ tokenHash, name, groupId, createdBy, madeBy, expiresAt });
    op.record({ detail: { host: name, group: group ?? "", expires_at: formatTimestamp(expiresAt) } });
    const { fingerprint } = fleetSecrets(context.seal);
    return { line: `${context.policy.site.baseUrl} ${token} ${fingerprint}`, expiresAt };
  });
}

/**
 * Takes the token out of the store, so that nobody can use it again once the transaction commits; of two simultaneous callers one gets
 * it. Throws `unauthorized` for any text that is not a valid token.
 */
export async function useJoinToken(
  tx: Transaction,
  token: string,
  now: Date,
): Promise<Pick<typeof joinTokens.$inferSelect, "name" | "groupId" | "createdBy">> {
  const [row] = await tx
    .delete(joinTokens)
    .where(and(eq(joinTokens.tokenHash, hashJoinToken(token)), gt(joinTokens.expiresAt, now)))
    .returning();
  if (row !== undefined) return row;
  const sentence = "The token is wrong, was used, or has ended; uam host token makes another";
  throw new UamError("unauthorized", sentence, { reason: "host_token.wrong" });
}

/** Throws `conflict` for a name that a host has. */
export async function requireFree(tx: Transaction, name: string): Promise<void> {
  const [taken] = await tx.select({ id: hosts.id }).from(hosts).where(eq(hosts.name, name));
  if (taken === undefined) return;
  throw new UamError("conflict", `There is a host named ${name}; retire it first, or choose another name`, {
    reason: "host.taken",
  });
}

function askedOf({ name, group }: NewJoinToken) {
  return { ...(name === undefined ? {} : { host: name }), ...(group === undefined ? {} : { group }) };
}

async function groupOf(tx: Transaction, name: string): Promise<number> {
  const [row] = await tx.select({ id: hostGroups.id }).from(hostGroups).where(eq(hostGroups.name, name));
  if (row !== undefined) return row.id;
  throw new UamError("not_found", `There is no group of hosts named ${JSON.stringify(name)}`, {
    reason: "host_group.missing",
  });
}

/** 256 random bits need no slow hash. */
function hashJoinToken(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
