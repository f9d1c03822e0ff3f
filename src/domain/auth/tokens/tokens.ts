/** Tokens for machines: each acts for the administrator who owns it, with at most their role, until it ends or is revoked. */

import { and, count, desc, eq, gt, inArray, isNull, lte, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { allowedBy, isWithin, parseNetworks } from "../../../shared/net/networks.ts";
import { offsetOf, type Page, type Paged } from "../../../shared/product/page.ts";
import { includesRole } from "../../../shared/product/role-order.ts";
import { ADMIN_ROLES, type AdminRole, type TOKEN_STATUSES } from "../../../shared/product/statuses.ts";
import { MAX_TOKEN_DAYS, MAX_TOKEN_NAME } from "../../../shared/product/token-limits.ts";
import { requireText } from "../../../shared/text/text.ts";
import { DAY, shift } from "../../../shared/time/clock.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import type { Transaction } from "../../../store/client.ts";
import { type AdminRow, admins, type TokenRow, tokens } from "../../../store/schema-auth.ts";
import { queueMail } from "../../mail/outbox.ts";
import { tokenMade } from "../../mail/token-messages.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation, Services } from "../../operation/context.ts";
import { nameForPeople } from "../../operation/entry.ts";
import { type Confirmation, confirmCaller, lockCaller } from "../factors/step-up.ts";
import type { OwnSession } from "../sessions/sessions.ts";
import { hashToken, type Principal } from "../sessions/sessions.ts";
import { voidJoinLines } from "./join-lines.ts";
import { requireMadeSlowly } from "./made-tokens.ts";
import { makeToken, shownPartOf } from "./token-format.ts";

/** Most tokens of one administrator in use at the same time. */
export const MAX_TOKENS = 100;
/** Ended tokens are listed for this long. */
const KEPT = 400 * DAY;

/** A token as lists show it. */
export interface TokenEntry extends Omit<TokenRow, "tokenHash" | "networks"> {
  readonly networks: readonly string[];
  readonly status: (typeof TOKEN_STATUSES)[number];
}

export interface NewToken {
  readonly name: string;
  readonly role: AdminRole;
  readonly days: number;
  readonly networks: readonly string[];
}

/** The holder of the tokens to make, list or revoke: the caller, or at the shell the named administrator, or all. */
export type TokenHolder = Principal | { readonly owner: string };

/** A new token; `token` is stored nowhere, so it is shown only this once. */
export interface MadeToken {
  readonly entry: TokenEntry;
  readonly token: string;
}

/**
 * Makes a token for the caller, who confirms again who they are: a token outlives the session. A token makes others without confirmation:
 * they end with it. Throws as `confirmCaller` and `createToken` do.
 */
export async function createOwnToken(
  context: Context,
  session: OwnSession,
  wanted: NewToken,
  confirmation: Confirmation,
): Promise<MadeToken> {
  const { principal } = session;
  if (principal.token !== undefined) return await createToken(context, principal, wanted);
  const entry = { action: "token.create", detail: detailOf(principal.username, wanted) } as const;
  await confirmCaller(context, session, confirmation, entry);
  return await createToken(context, principal, wanted, session);
}

/**
 * Makes a token and mails its owner about it; fails for a session that has ended. A token made by a token ends with it at the latest. Throws `invalid`;
 * `forbidden` for a role that is not within the caller's, and for networks that are not within those of the token that asks; `conflict` for one token too many;
 * `limited` if tokens make too many; `not_found` for an unknown owner.
 */
export async function createToken(
  context: Context,
  holder: TokenHolder,
  wanted: NewToken,
  session?: OwnSession,
): Promise<MadeToken> {
  const administrator = "owner" in holder ? holder.owner : holder.username;
  const { role, days } = wanted;
  const detail = detailOf(administrator, wanted);
  return await audited(context, { action: "token.create", detail }, async (op) => {
    const name = requireText("name", wanted.name, MAX_TOKEN_NAME);
    if (!Number.isInteger(days) || days < 1 || days > MAX_TOKEN_DAYS) {
      throw new UamError("invalid", `days must be a whole number from 1 to ${MAX_TOKEN_DAYS}`);
    }
    const networks = networksFor(holder, parseNetworks(wanted.networks));
    const owner = session === undefined ? await lockOwner(op.tx, holder) : await lockCaller(op.tx, session);
    requireRoleWithin(holder, owner, role);
    const now = context.clock.now();
    await requireRoom(op.tx, owner, now);
    if (makerOf(holder) !== null) await requireMadeSlowly(op.tx, owner, now);
    const token = makeToken();
    const [row] = await op.tx
      .insert(tokens)
      .values({
        ...{ tokenHash: hashToken(token), prefix: shownPartOf(token), name, role },
        ...{ ownerId: owner.id, owner: owner.username, networks: networks.join(" ") },
        ...{ createdAt: now, expiresAt: endOf(shift(now, days * DAY), holder), madeBy: makerOf(holder) },
      })
      .returning();
    if (row === undefined) throw new Error("insert returned no row");
    const entry = entryOf(row, now);
    op.record({
      resourceId: String(row.id),
      detail: { name, expires_at: formatTimestamp(row.expiresAt), networks: row.networks, prefix: row.prefix },
    });
    const by = nameForPeople(context.actor);
    const message = tokenMade(context.policy.site, { ...entry, at: now, by, from: context.actor.ip });
    await queueMail(op, { recipient: owner.email, message });
    return { entry, token };
  });
}

/** One page of tokens, newest first: the caller's own, an owner's view of all, and at the shell all. */
export async function pageTokens(
  { db, clock }: Pick<Context, "db" | "clock">,
  viewer: Principal | undefined,
  page: Page,
): Promise<Paged<TokenEntry>> {
  const visible = viewer === undefined ? undefined : visibleTo(viewer);
  // One snapshot, so that `total` and `items` agree.
  return await db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(tokens).where(visible);
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      // A page far beyond the end has an offset that no database takes.
      if (offset >= total) return { total, items: [] };
      const rows = await tx
        .select()
        .from(tokens)
        .where(visible)
        .orderBy(desc(tokens.id))
        .limit(page.pageSize)
        .offset(offset);
      return { total, items: rows.map((token) => entryOf(token, clock.now())) };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/**
 * Revokes a token and all tokens that it made, recursively, each on record, from the next request on, and voids the lines for joining hosts
 * that they made; a revoked token stays as it is. Throws `not_found` for a token that the caller does not see, and `forbidden` if the caller
 * is a token and the other may do more. At the shell, without a caller, any token can be revoked.
 */
export async function revokeToken(context: Context, asking: Principal | undefined, id: number): Promise<TokenEntry> {
  return await audited(context, { action: "token.revoke", resourceId: String(id) }, async (op) => {
    const caller = asking && (await atPresent(op.tx, asking));
    const [row] = await op.tx
      .select()
      .from(tokens)
      .where(and(eq(tokens.id, id), caller === undefined ? undefined : visibleTo(caller)));
    if (row === undefined) throw new UamError("not_found", `There is no token ${id}`, { reason: "token.missing" });
    op.about({ detail: aboutToken(row) });
    if (caller?.token !== undefined && caller.token.id !== id && !mayActAs(caller, row.role)) {
      const sentence = `A token with the role ${caller.role} cannot revoke one with the role ${row.role}; log in`;
      throw new UamError("forbidden", sentence, { reason: "role.insufficient" });
    }
    const now = context.clock.now();
    // Makers of tokens hold this lock: a token that the revoked one is making is either there already, or is refused.
    await op.tx.select({ id: admins.id }).from(admins).where(eq(admins.id, row.ownerId)).for("update");
    const revoked = await revokeWithMade(op, row.ownerId, eq(tokens.id, id));
    const itself = revoked.find((one) => one.id === id);
    for (const made of revoked) if (made !== itself) recordRevocation(op, made);
    if (itself === undefined) op.record({ unneeded: true });
    const [after] = await op.tx.select().from(tokens).where(eq(tokens.id, id));
    return entryOf(after ?? row, now);
  });
}

/** Revokes an administrator's tokens, all or those of some roles with the tokens they made, each on record; returns how many. */
export async function revokeTokensOf(
  op: Operation,
  { id }: Pick<AdminRow, "id">,
  isToGo: (role: AdminRole) => boolean = () => true,
): Promise<number> {
  const revoked = await revokeWithMade(op, id, inArray(tokens.role, ADMIN_ROLES.filter(isToGo)));
  for (const row of revoked) recordRevocation(op, row);
  return revoked.length;
}

/** Revokes those of the owner's tokens and all that they made, recursively; returns the ones that were not revoked before. */
async function revokeWithMade(op: Operation, ownerId: number, which: SQL): Promise<readonly TokenRow[]> {
  const isToGo = sql`${tokens.id} in (with recursive going as (
    select ${tokens.id} from ${tokens} where ${tokens.ownerId} = ${ownerId} and ${which}
    union select made.id from ${tokens} made join going on made.made_by = going.id
  ) select id from going)`;
  const revoked = await op.tx
    .update(tokens)
    .set({ revokedAt: op.context.clock.now() })
    .where(and(isToGo, isNull(tokens.revokedAt)))
    .returning();
  if (revoked.length > 0) await voidJoinLines(op, ownerId, revoked);
  return revoked;
}

function recordRevocation({ alsoRecord }: Operation, row: TokenRow): void {
  const entry = { action: "token.revoke", resourceId: String(row.id), detail: aboutToken(row) } as const;
  alsoRecord({ entry, result: "success" });
}

/** Removes tokens that ended more than a year ago. */
export async function purgeTokens({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(tokens).where(lte(tokens.expiresAt, shift(clock.now(), -KEPT)));
}

/** The row without the token's hash, with its status. */
export function entryOf({ tokenHash: _, networks, ...row }: TokenRow, now: Date): TokenEntry {
  const status = row.revokedAt !== null ? "revoked" : row.expiresAt <= now ? "expired" : "active";
  return { ...row, networks: networksOf(networks), status };
}

/** The networks as they are stored, one by one. */
export function networksOf(stored: string): readonly string[] {
  return stored === "" ? [] : stored.split(" ");
}

function detailOf(administrator: string, { name, role, days }: NewToken) {
  return { administrator, name, role, days };
}

function aboutToken({ name, owner, role, prefix, madeBy }: TokenRow) {
  return { administrator: owner, name, role, prefix, ...(madeBy === null ? {} : { made_by: madeBy }) };
}

/** The token that asks, if one does. */
function makerOf(holder: TokenHolder): number | null {
  return "owner" in holder ? null : (holder.token?.id ?? null);
}

function endOf(wanted: Date, holder: TokenHolder): Date {
  const own = "owner" in holder ? undefined : holder.token?.expiresAt;
  return own !== undefined && own < wanted ? own : wanted;
}

/** The caller with at most their current role. */
async function atPresent(tx: Transaction, caller: Principal): Promise<Principal> {
  const [now] = await tx.select({ role: admins.role }).from(admins).where(eq(admins.id, caller.id));
  const { role = "auditor" } = now ?? {};
  return caller.role !== undefined && includesRole(role, caller.role) ? caller : { ...caller, role };
}

/** All for an owner; a token sees what a session of its owner with the token's role would see. */
function visibleTo({ id, role, token }: Principal): SQL | undefined {
  return role === "owner" && token?.within === undefined ? undefined : eq(tokens.ownerId, id);
}

/** Whether the role is within the caller's rights. */
function mayActAs({ role, token }: Principal, wanted: AdminRole): boolean {
  const held = [role, token?.within].filter((one) => one !== undefined);
  return held.length > 0 && held.every((one) => includesRole(one, wanted));
}

/** A token limited to some networks makes no token for others; by default, it makes one for the same. */
function networksFor(holder: TokenHolder, wanted: readonly string[]): readonly string[] {
  const own = "owner" in holder ? [] : (holder.token?.networks ?? []);
  if (wanted.length === 0) return own;
  if (isWithin(allowedBy(wanted), allowedBy(own))) return wanted;
  const sentence = `A token for ${own.join(", ")} cannot make one for other networks`;
  throw new UamError("forbidden", sentence, { reason: "token.not_allowed" });
}

/** Guards against a simultaneous removal or role change: the second one sees the first one's change. */
async function lockOwner(tx: Transaction, holder: TokenHolder): Promise<AdminRow> {
  const is = "owner" in holder ? eq(admins.username, holder.owner) : eq(admins.id, holder.id);
  const [owner] = await tx.select().from(admins).where(is).for("update");
  if (owner !== undefined) return owner;
  // Removed since the request came, and their session with them.
  if (!("owner" in holder)) throw new UamError("unauthorized", "Log in first");
  throw new UamError("not_found", `There is no administrator named ${JSON.stringify(holder.owner)}`, {
    reason: "admin.missing",
  });
}

function requireRoleWithin(holder: TokenHolder, owner: AdminRow, wanted: AdminRole): void {
  const isAllowed = includesRole(owner.role, wanted) && ("owner" in holder || mayActAs(holder, wanted));
  if (isAllowed) return;
  const own = "owner" in holder ? `that of ${owner.username}` : "yours";
  const role = "owner" in holder ? owner.role : (holder.role ?? owner.role);
  throw new UamError("forbidden", `A token's role must be within ${own}, which is ${role}; ${wanted} is not`, {
    reason: "role.insufficient",
  });
}

async function requireRoom(tx: Transaction, { id, username }: AdminRow, now: Date): Promise<void> {
  const isLive = and(eq(tokens.ownerId, id), isNull(tokens.revokedAt), gt(tokens.expiresAt, now));
  const [row] = await tx.select({ live: count() }).from(tokens).where(isLive);
  if ((row?.live ?? 0) < MAX_TOKENS) return;
  throw new UamError("conflict", `${username} has ${MAX_TOKENS} tokens, which is the limit; revoke one first`, {
    reason: "token.limit",
  });
}
