/** External users: create, disable, enable, delete. */

import { UamError } from "../../shared/errors.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { isDuplicate } from "../../store/client.ts";
import { accounts, users } from "../../store/schema.ts";
import {
  disableOnRecord,
  openAccess,
  owedSentence,
  removeAccess,
  requireClosed,
  restoreAccess,
  storeUser,
} from "../accounts/access.ts";
import { scheduleAt } from "../accounts/access-state.ts";
import { accountAt, activeKeys, refOf } from "../accounts/account.ts";
import { closingsOf } from "../accounts/closings.ts";
import {
  belonging,
  type Company,
  endWithin,
  holdCompanyOf,
  joinCompany,
  networksWithin,
  requireGoing,
  requireStillWithin,
} from "../accounts/company-limits.ts";
import { requireUser, type User } from "../accounts/find-user.ts";
import { scheduleHere, tellHours } from "../accounts/hours.ts";
import { forgetIntent, recordIntent } from "../accounts/intents.ts";
import { allocateUid } from "../accounts/uid.ts";
import { voidCodes } from "../auth/codes/otp.ts";
import { holdGroups } from "../hosts/find-host.ts";
import { grantFirstGroups } from "../hosts/first-grant.ts";
import { grantsOf } from "../hosts/grants.ts";
import { requireComparable, requireHeldHere, requireProfile } from "../hosts/profile-limits.ts";
import { accountCreated } from "../mail/messages.ts";
import { tellEnabled } from "../mail/notices.ts";
import { queueMail } from "../mail/outbox.ts";
import { siteWithKeys } from "../mail/site.ts";
import { auditedClosing, auditedGrant } from "../operation/audited.ts";
import type { Context, Grant, Operation } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { requireSponsor, sponsorOf } from "../sponsors/sponsor-email.ts";
import { tellSponsor } from "../sponsors/telling.ts";
import { requireDisableable, requireEnableable } from "./changeable.ts";
import { createdDetail, type NewUser, type ParsedUser, parseNewUser } from "./new-user.ts";
import { type ChangeOptions, lockUserFor, userEntry } from "./row-lock.ts";
import { endLoginsOf } from "./web-sessions.ts";

export type { NewUser } from "./new-user.ts";

/**
 * Stores a user and creates the host account: both or neither. `conflict` if the username or the account's name is taken, or the company is
 * full or has ended.
 */
export function createUser(context: Context, input: NewUser): Promise<User> {
  const entry = { action: "user.create", detail: { username: input.username } } as const;
  return auditedGrant(context, entry, async (op) => {
    const now = context.clock.now();
    const defaultTtl = await readSetting(context, op.tx, "policy.default_ttl");
    const parsed = parseNewUser(input, { now, defaultTtl, sponsor: context.policy.sponsor });
    const company = input.companyId == null ? undefined : await joinCompany(op.tx, input.companyId);
    const within = {
      ...belonging(company?.id ?? null, input.manager ?? false),
      ...fit(company, { input, parsed, now }),
    };
    const sponsor = sponsorOf(parsed, company);
    requireSponsor(context.policy.sponsor, sponsor);
    await holdGroups(op.tx, parsed.requestGroups ?? []);
    if (parsed.profile !== null) await requireProfile(op.tx, parsed.profile);
    const uid = await allocateUid(context);
    const user = await insertUser(op, { ...parsed, ...within, createdAt: now, updatedAt: now }, uid, (inside, id) =>
      grantFirstGroups(inside, id, company?.hostGroups),
    );
    // Codes are kept by name: a code sent to the name's former owner must not work for this user.
    await voidCodes(op.tx, [user.username]);
    const message = (input.letter ?? accountCreated)(await siteWithKeys(context), user);
    await queueMail(op, { recipient: user.email, message });
    await tellSponsor(op, sponsor, [user]);
    if (user.profile !== null) await requireComparable(op.tx, user.id);
    if (user.local) requireHeldHere(context, user.profiles);
    await tellHours(op, user);
    if (user.local) await createOnHost(op, user);
    const detail = { ...createdDetail(user), ...(company && (await companyDetail(op, user, company))) };
    op.record({ resourceId: String(user.id), subjectId: user.id, detail });
    return user;
  });
}

/** The groups are those of the company where it has some, and else the group for new users, as for everybody. */
async function companyDetail({ tx }: Operation, { id, manager }: User, company: Company) {
  const groups = company.hostGroups.length === 0 ? {} : { groups: (await grantsOf(tx, id)).groups.join(", ") };
  return { company: company.name, manager, ...groups };
}

/** The end, the networks and the hours of a new user as their company allows them. */
function fit(
  company: Company | undefined,
  { input, parsed, now }: { readonly input: NewUser; readonly parsed: ParsedUser; readonly now: Date },
): Pick<ParsedUser, "expireAt" | "sourceNetworks" | "companyHours" | "hoursDueAt"> {
  const isNamed = (input.ttlDays ?? 0) > 0 || input.expireAt !== undefined;
  const networks = input.sourceNetworks === undefined ? undefined : parsed.sourceNetworks;
  const companyHours = company?.hours ?? null;
  return {
    expireAt: endWithin(company, { now, end: parsed.expireAt, isNamed }),
    sourceNetworks: [...networksWithin(company, networks)],
    ...{
      companyHours,
      hoursDueAt: scheduleAt({ ...parsed, ...{ companyHours, allowedFrom: null, allowedUntil: null } }, now).changesAt,
    },
  };
}

/** Creates the account of a user just stored; throws `conflict` if the host has one of that name. */
export async function createOnHost(op: Grant, user: User): Promise<void> {
  const { context } = op;
  const account = refOf(user);
  await scheduleHere(op, user);
  // A dry run makes nothing that a crash could leave behind.
  if (context.host.mode === "dry-run") return await makeAccount(context, user);
  if (await context.host.nameTaken(account.name)) {
    const sentence = `The host already has an account or a home directory named ${account.name}`;
    throw new UamError("conflict", sentence, { reason: "account.taken" });
  }
  await op.onRollback(async () => {
    await restoreAccess(context, user);
    await forgetIntent(context.autocommit, user.uid);
  });
  await recordIntent(op, account);
  faultPoint("account: intent noted, not made");
  await makeAccount(context, user);
  faultPoint("account: made, intent still noted");
  await forgetIntent(op.tx, user.uid);
}

/** Without keys; shut, as long as the user's access is not open. */
async function makeAccount({ host, clock }: Context, user: User): Promise<void> {
  const account = accountAt(clock.now(), user, { keys: [], owed: [] });
  await host.createAccount({ ...account, open: true });
  if (!account.open) requireClosed(await host.shutAccount(refOf(user)));
}

/**
 * Ends the user's access at once: account shut, processes ended, authorized-keys file empty. The user is stored as disabled
 * even if the host fails; steps that fail are owed, and then this throws `internal`, saying what holds and what does not.
 */
export function disableUser(context: Context, userId: number, options: ChangeOptions = {}): Promise<User> {
  return auditedClosing(context, userEntry("user.disable", userId), async (op) => {
    const { user, reason } = await lockUserFor(op, userId, options);
    await requireDisableable(context, op.tx, user);
    return await disableOnRecord(op, user, { reason });
  });
}

/** Gives a disabled user access again, with the keys as stored; the sessions with the service from before end. */
export function enableUser(context: Context, userId: number, options: ChangeOptions = {}): Promise<User> {
  return auditedGrant(context, userEntry("user.enable", userId), async (op) => {
    const { user } = await lockUserFor(op, userId, options);
    const company = await holdCompanyOf(op.tx, user);
    requireGoing(company);
    await requireStillWithin(op.tx, company, user);
    await requireEnableable(context, user, await closingsOf(op.tx, userId));
    // No earlier session goes on, whatever the reason for disabling was.
    await endLoginsOf(op, user);
    const enabled = await storeUser(op, user, { status: "active", disabledAt: null });
    if (user.status === "disabled") await tellEnabled(op, enabled);
    await openAccess(op, enabled);
    op.record({ detail: { status: enabled.status } });
    return enabled;
  });
}

/**
 * Removes the host account, the home directory, the keys and the user; the audit records stay. If the host cannot finish,
 * the user stays stored as disabled, the rest is owed, and this throws `internal` with the remaining work; the record of
 * the deletion follows once it is done.
 */
export function deleteUser(context: Context, userId: number, options: ChangeOptions = {}): Promise<void> {
  return auditedClosing(context, userEntry("user.delete", userId), async (op) => {
    const { user, reason } = await lockUserFor(op, userId, options);
    const keys = await activeKeys(op.tx, userId);
    const closed = await removeAccess(op, user, { reason });
    if (closed.owed.length > 0) {
      const state = closed.user.status === "expired" ? "is expired" : "is disabled";
      op.record({ detail: { status: closed.user.status } });
      return op.refuse(owedSentence(`${user.username} ${state}, and is being deleted`, closed));
    }
    op.record({ detail: removedDetail(user, keys.length) });
  });
}

/** The removed data, for the record of a deletion. */
export function removedDetail(user: User, keys: number) {
  const { email, fullName, supervisor, purpose, note, expireAt } = user;
  const texts = { email, full_name: fullName, supervisor, purpose, note };
  return { status: "deleted", ...texts, keys, uid: user.uid, expire_at: formatTimestamp(expireAt) };
}

/** The user; throws `not_found`. */
export async function getUser(context: Context, userId: number): Promise<User> {
  return await requireUser(context.db, userId);
}

/** Stores a user with the uid, on the hosts that `grant` gives. Throws `conflict` if the username is taken. */
export async function insertUser(
  op: Operation,
  user: typeof users.$inferInsert,
  uid: number,
  grant: typeof grantFirstGroups = grantFirstGroups,
): Promise<User> {
  try {
    const [row] = await op.tx.insert(users).values(user).returning().prepare("insert_user").execute();
    if (row === undefined) throw new Error("insert returned no row");
    await op.tx.insert(accounts).values({ userId: row.id, uid }).prepare("insert_account").execute();
    await grant(op, row.id);
    return await requireUser(op.tx, row.id);
  } catch (error) {
    if (isDuplicate(error, "users_username_unique")) {
      throw new UamError("conflict", `The username ${user.username} is taken`, { reason: "user.taken" });
    }
    throw error;
  }
}
