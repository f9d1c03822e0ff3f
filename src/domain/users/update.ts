/** Changing what is stored of an external user: e-mail, full name, supervisor, purpose, note, company, and from where and when they may log in. */

import { publicMessage, UamError } from "../../shared/errors.ts";
import { formatOnRequest } from "../../shared/hours/on-request.ts";
import { allowedBy, isWithin } from "../../shared/net/networks.ts";
import { formatOptionalTimestamp } from "../../shared/time/timestamp.ts";
import { storeUser } from "../accounts/access.ts";
import { onRequestOf } from "../accounts/access-state.ts";
import { hasFewerHours } from "../accounts/fewer-hours.ts";
import { findUser, lockUser, requireUser, type User } from "../accounts/find-user.ts";
import { followHours, isDue } from "../accounts/hours.ts";
import {
  changeNetworks,
  giveAdded,
  narrowAccess,
  narrowingOwed,
  networkDetail,
  takesAway,
  widenAccess,
} from "../accounts/narrowing.ts";
import { followProfile, type ProfileStep } from "../accounts/profile-change.ts";
import { noteFleetChange } from "../accounts/remote-changes.ts";
import { tellAddressChanged } from "../mail/notices.ts";
import { audited, auditedClosing, auditedGrant } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { onward } from "../operation/permission.ts";
import { followSponsor } from "../sponsors/replacing.ts";
import { setUserProfile } from "./set-profile.ts";
import { fitChanges, requireApart, type Supplied, TEXTS, type Times, type UserChanges } from "./user-changes.ts";
import { endLoginsOf } from "./web-sessions.ts";

/**
 * Changes only the supplied fields. A change of address is mailed to both addresses, voids a code that went to the old one, and ends the earlier sessions.
 * Removing networks takes effect at once and ends sessions from outside; steps that fail on the host are owed, and then this throws `internal`, with the
 * networks stored. Networks that only widen are stored and written, or neither.
 */
export async function updateUser(context: Context, userId: number, changes: UserChanges): Promise<User> {
  return (await changeUser(context, userId, changes)).user;
}

/** A changed user, and whether further hosts have to follow because it was less access. */
export interface ChangedUser {
  readonly user: User;
  readonly isNarrower: boolean;
}

/** The same as `updateUser`. */
export async function changeUser(context: Context, userId: number, changes: UserChanges): Promise<ChangedUser> {
  const { sourceNetworks } = changes;
  let [isNarrower, step]: [boolean, ProfileStep] = [false, "none"];
  if (sourceNetworks === undefined) {
    const updated = await audited(context, entryOf(userId), async (op) => {
      const user = await lock(op, userId);
      const stored = await store(op, user, await fitChanges(op, user, changes));
      isNarrower = hasFewerHours(user, stored, context.clock.now());
      if (isNarrower) await noteFleetChange(op, stored);
      const bound = await setUserProfile(op, stored, changes.profile);
      ({ step } = bound);
      isNarrower ||= bound.isNarrower;
      return bound.user;
    });
    await followProfile(onward(context), userId, step);
    return { user: await brought(context, updated), isNarrower };
  }
  requireApart(changes);
  const user = await changeNetworks({
    takesAway: async () => {
      const user = await findUser(context.db, userId);
      return user !== undefined && takesAway(allowedBy(user.sourceNetworks), sourceNetworks);
    },
    narrow: async () => {
      const narrowed = await narrowUser(context, userId, changes);
      isNarrower = narrowed !== undefined;
      return narrowed;
    },
    widen: () => widenUser(context, userId, changes),
  });
  return { user: await brought(context, user), isNarrower };
}

/** Undefined if the change no longer takes anything away. */
async function narrowUser(context: Context, userId: number, changes: UserChanges): Promise<User | undefined> {
  const narrowed = await auditedClosing(context, entryOf(userId), async (op) => {
    const user = await lock(op, userId);
    const supplied = await fitChanges(op, user, changes);
    const { sourceNetworks: networks = [] } = supplied;
    const before = allowedBy(user.sourceNetworks);
    if (!takesAway(before, networks)) {
      op.record({ unneeded: true });
      return undefined;
    }
    const owed = await narrowAccess(op, { user, key: undefined, networks }, "user.update");
    const updated = await store(op, user, supplied);
    if (owed.length > 0) op.refuse(narrowingOwed(user, owed));
    return { updated, adds: !isWithin(allowedBy(networks), before) };
  });
  if (narrowed?.adds) await giveAdded(context, narrowed.updated);
  return narrowed?.updated;
}

/** Undefined if the change meanwhile takes something away. */
async function widenUser(context: Context, userId: number, changes: UserChanges): Promise<User | undefined> {
  return await auditedGrant(context, entryOf(userId), async (op) => {
    const user = await lock(op, userId);
    const supplied = await fitChanges(op, user, changes);
    const { sourceNetworks: networks = [] } = supplied;
    if (takesAway(allowedBy(user.sourceNetworks), networks)) {
      op.record({ unneeded: true });
      return undefined;
    }
    const updated = await store(op, user, supplied);
    if (networks.join() !== user.sourceNetworks.join()) await widenAccess(op, updated, { keyId: 0, networks });
    return updated;
  });
}

/** Only what has changed. */
function timesDetail(user: User, times: Partial<Times>): AuditDetail {
  const { startsAt, hours, companyHours, hoursEnd, allowedUntil } = { ...user, ...times };
  const [start, old] = [formatOptionalTimestamp(startsAt), formatOptionalTimestamp(user.startsAt)];
  const [allowed, oldAllowed] = [allowedUntil, user.allowedUntil].map(formatOptionalTimestamp);
  const [asked, oldAsked] = [{ ...user, ...times }, user].map(onRequestOf).map((rule) => rule && formatOnRequest(rule));
  return {
    ...(asked === oldAsked ? {} : { on_request: asked ?? "", old_on_request: oldAsked ?? "" }),
    ...(start === old ? {} : { starts_at: start ?? "", old_starts_at: old ?? "" }),
    ...(allowed === oldAllowed ? {} : { allowed_until: allowed ?? "", old_allowed_until: oldAllowed ?? "" }),
    ...(hours === user.hours ? {} : { hours: hours ?? "", old_hours: user.hours ?? "" }),
    ...(companyHours === user.companyHours
      ? {}
      : { company_hours: companyHours ?? "", old_company_hours: user.companyHours ?? "" }),
    ...(hoursEnd === user.hoursEnd ? {} : { hours_end: hoursEnd, old_hours_end: user.hoursEnd }),
  };
}

function entryOf(userId: number) {
  return { action: "user.update", resourceId: String(userId), subjectId: userId } as const;
}

async function lock(op: Operation, userId: number): Promise<User> {
  const user = await lockUser(op.tx, userId);
  op.about({ detail: { username: user.username } });
  return user;
}

/**
 * Has the host follow times that were just stored, if any were. If it cannot do all of it, that is retried each minute, and this throws `internal`:
 * at the latest sshd shuts the window that it was told of before.
 */
async function brought(context: Context, updated: User): Promise<User> {
  if (!isDue(updated, context.clock.now())) return updated;
  try {
    await followHours(onward(context), updated.id);
  } catch (error) {
    const sentence = `The hours of ${updated.username} are stored, but the host does not follow them yet; this is tried again until it does: ${publicMessage(error)}`;
    throw new UamError("internal", sentence, { cause: error, reason: "access.owed" });
  }
  return await requireUser(context.db, updated.id);
}

/** Fields whose names on record are others. */
const COLUMNS: Readonly<Record<string, string>> = { fullName: "full_name", sponsorEmail: "sponsor_email" };

async function store(op: Operation, user: User, supplied: Supplied): Promise<User> {
  const { sourceNetworks, hoursDueAt } = supplied;
  const fields = TEXTS.filter((field) => supplied[field] !== undefined);
  const named = fields.map((field) => ({ field, name: COLUMNS[field] ?? field }));
  const fresh = Object.fromEntries(named.map(({ field, name }) => [name, supplied[field] ?? ""]));
  const old = Object.fromEntries(named.map(({ field, name }) => [`old_${name}`, user[field]]));
  op.record({ detail: { ...fresh, ...old } });
  if (sourceNetworks !== undefined) op.record({ detail: networkDetail(user.sourceNetworks, sourceNetworks) });
  if (hoursDueAt !== undefined) op.record({ detail: timesDetail(user, supplied) });
  const updated = await storeUser(op, user, supplied);
  if (updated.email !== user.email) {
    // A reader of the old mailbox may already be logged in.
    await endLoginsOf(op, user);
    await tellAddressChanged(op, user, updated);
  }
  await followSponsor(op, user, updated);
  return updated;
}
