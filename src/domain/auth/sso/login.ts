/** Logging in by single sign-on: from the provider's answer to a session, with the administrator made at the first login. */

import { and, eq, gte, isNull, or, sql } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import { LOCKS } from "../../../store/advisory-locks.ts";
import type { Transaction } from "../../../store/client.ts";
import { type AdminRow, admins, sessions } from "../../../store/schema-auth.ts";
import { ssoIdentities, ssoLogouts, ssoSessions } from "../../../store/schema-sso.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import { insertAdmin } from "../administrators/add-admin.ts";
import { lockAdmins, requireOtherOwner } from "../administrators/admin-rows.ts";
import { takeBackWhatLetsIn } from "../administrators/left-behind.ts";
import { findAdmin } from "../find-administrator.ts";
import { endSessionsOf, hashToken, type NewSession, openSession } from "../sessions/sessions.ts";
import { emailOf, nameOf, roleOf } from "./claims.ts";
import { type ReturnedLogin, takeLogin } from "./login-requests.ts";
import type { ProvenPerson, SsoProvider } from "./provider.ts";

/** The parameters and the cookie that the browser brought back from the provider. */
export interface BroughtBack {
  readonly answer: URLSearchParams;
  /** The secret of its cookie. */
  readonly browser: string | undefined;
  /** The token of a session that it has. */
  readonly replaces: string | undefined;
}

/** A login that is done, and the page that it leads to. */
export interface SsoLogin {
  readonly session: NewSession;
  readonly next: string;
}

/**
 * Opens a session for the person that the provider vouches for, by issuer and subject alone: never by a name or an address. The first
 * login makes the administrator; each login gives them the role of their claims. Throws `unauthorized` for an answer that proves
 * nobody, `forbidden` for a person without a role or who was removed, `conflict` if the last owner would lose that role, and
 * `internal` while the provider is away. A person who has lost every role also loses their sessions and tokens.
 */
export async function finishLogin(context: Context, provider: SsoProvider, brought: BroughtBack): Promise<SsoLogin> {
  const { issuer } = provider;
  const done = await audited(
    context,
    { action: "auth.admin_login", detail: { way: "oidc", issuer } },
    {
      prepare: async () => {
        const begun = await takeLogin(context, brought.answer.get("state") ?? "", brought.browser);
        return { begun, person: await provider.redeem(brought.answer, begun) };
      },
      run: async (op, { begun, person }) => {
        op.about({ detail: { subject: person.subject } });
        // One at a time: two first logins must not make two administrators, and a logout must not be missed.
        await lockSingleSignOn(op.tx);
        const role = roleOf(person.claims, provider.rules);
        if (role === undefined) return await refuse(op, issuer, person);
        await requireNotEnded(op.tx, issuer, person);
        const admin = await enter(op, { issuer, person, role });
        return { session: await open(op, { admin, begun, person, issuer, brought }), next: begun.next };
      },
    },
  );
  if (done instanceof UamError) throw done;
  return done;
}

/** Call it first in a transaction that opens a session, or notes the provider's logout. */
export async function lockSingleSignOn(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.singleSignOn})`);
}

interface Entering {
  readonly issuer: string;
  readonly person: ProvenPerson;
  readonly role: AdminRole;
}

/** Committed, though it is a refusal: it also ends their other sessions and their tokens. */
async function refuse(op: Operation, issuer: string, person: ProvenPerson): Promise<UamError> {
  const refusal = new UamError("forbidden", "The provider's groups or roles give you none here; see UAM_OIDC_ROLES", {
    reason: "sso.role",
  });
  const [known] = await op.tx.select().from(ssoIdentities).where(isPerson(issuer, person.subject));
  if (known !== undefined) {
    op.record({ detail: { username: known.username } });
    if (known.adminId !== null) {
      await lockAdmins(op.tx);
      await endSessionsOf(op.tx, "admin", known.adminId);
      await takeBackWhatLetsIn(op, { id: known.adminId, username: known.username });
    }
  }
  op.record({ refused: refusal.message });
  return refusal;
}

/** Throws `unauthorized` if the provider has ended the session since it vouched for it. */
async function requireNotEnded(
  tx: Transaction,
  issuer: string,
  { subject, sid, issuedAt }: ProvenPerson,
): Promise<void> {
  const ofSession = sid === undefined ? undefined : eq(ssoLogouts.sid, sid);
  const ofPerson = and(isNull(ssoLogouts.sid), eq(ssoLogouts.subject, subject), gte(ssoLogouts.issuedAt, issuedAt));
  const [ended] = await tx
    .select({ id: ssoLogouts.tokenHash })
    .from(ssoLogouts)
    .where(and(eq(ssoLogouts.issuer, issuer), or(ofSession, ofPerson)))
    .limit(1);
  if (ended === undefined) return;
  throw new UamError("unauthorized", "The provider ended this login; begin again", { reason: "sso.expired" });
}

/** The administrator, with the role of the claims. */
async function enter(op: Operation, entering: Entering): Promise<AdminRow> {
  const { issuer, person, role } = entering;
  const all = await lockAdmins(op.tx);
  const [known] = await op.tx.select().from(ssoIdentities).where(isPerson(issuer, person.subject));
  if (known === undefined) return await makeAdmin(op, entering);
  if (known.readmittedBy !== null) {
    await op.tx.delete(ssoIdentities).where(eq(ssoIdentities.id, known.id));
    return await makeAdmin(op, entering);
  }
  op.about({ detail: { username: known.username } });
  const admin = all.find(({ id }) => id === known.adminId);
  if (admin === undefined) {
    const sentence =
      "An owner removed you here, so that the provider's word is not enough; ask an owner to let you in again";
    throw new UamError("forbidden", sentence, { reason: "sso.removed" });
  }
  if (role !== admin.role && role !== "owner") requireOtherOwner(all, admin);
  return await note(op, admin, role);
}

/** Stores the login, and a role that has changed. */
async function note(op: Operation, admin: AdminRow, role: AdminRole): Promise<AdminRow> {
  const { clock } = op.context;
  const after = { ...admin, role, lastLoginAt: clock.now() };
  const changed = role === admin.role ? {} : { role, updatedAt: clock.now() };
  await op.tx
    .update(admins)
    .set({ lastLoginAt: after.lastLoginAt, ...changed })
    .where(eq(admins.id, admin.id));
  if (role !== admin.role) {
    const detail = { username: admin.username, role, old_role: admin.role, way: "oidc" };
    const entry = { action: "admin.update", resourceId: String(admin.id), detail } as const;
    op.alsoRecord({ entry, result: "success", actor: actorOf(op, admin) });
    op.context.log.warn("an administrator's role was changed by single sign-on", detail);
    await takeBackWhatLetsIn(op, admin, role);
  }
  return after;
}

/**
 * A new administrator under a name that nobody has, or had by single sign-on: a name in the log always means one
 * person.
 */
async function makeAdmin(op: Operation, { issuer, person, role }: Entering): Promise<AdminRow> {
  const email = emailOf(person.claims);
  if (email === undefined) {
    const sentence = "The provider gives no e-mail address that it vouches for; an administrator needs one here";
    throw new UamError("forbidden", sentence, { reason: "sso.email" });
  }
  const now = op.context.clock.now();
  const username = await freeName(op.tx, nameOf(person.claims));
  const times = { createdAt: now, updatedAt: now, lastLoginAt: now };
  const admin = await insertAdmin(op.tx, { username, email, role, sso: true, ...times });
  const { subject } = person;
  await op.tx.insert(ssoIdentities).values({ issuer, subject, adminId: admin.id, username, createdAt: now });
  const detail = { username, email, role, way: "oidc", issuer, subject };
  const entry = { action: "admin.create", resourceId: String(admin.id), detail } as const;
  op.alsoRecord({ entry, result: "success", actor: actorOf(op, admin) });
  op.context.log.warn("an administrator was added by single sign-on", { username, role, issuer, subject });
  return admin;
}

async function freeName(tx: Transaction, wanted: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    const [had] = await tx.select({ id: ssoIdentities.id }).from(ssoIdentities).where(eq(ssoIdentities.username, name));
    if (had === undefined && (await findAdmin(tx, name)) === undefined) return name;
  }
}

interface Opening {
  readonly admin: AdminRow;
  readonly begun: ReturnedLogin;
  readonly person: ProvenPerson;
  readonly issuer: string;
  readonly brought: BroughtBack;
}

async function open(op: Operation, { admin, begun, person, issuer, brought }: Opening): Promise<NewSession> {
  const { id, username, email, role } = admin;
  // Only now is it known who asked.
  op.record({ actor: actorOf(op, admin), detail: { username } });
  if (begun.replacesHash !== null) await op.tx.delete(sessions).where(eq(sessions.tokenHash, begun.replacesHash));
  const principal = { userType: "admin", id, username, email, role, way: "oidc" } as const;
  const session = await openSession(op.tx, op.context, principal, brought.replaces);
  const { subject, sid = null } = person;
  await op.tx.insert(ssoSessions).values({ tokenHash: hashToken(session.token), issuer, subject, sid });
  return session;
}

function isPerson(issuer: string, subject: string) {
  return and(eq(ssoIdentities.issuer, issuer), eq(ssoIdentities.subject, subject));
}

function actorOf({ context: { actor } }: Operation, { username }: AdminRow) {
  return { ...actor, type: "admin", name: username } as const;
}
