/**
 * Changes what a profile allows. What it allows no longer is taken away from everybody who has it: it is stored first, with what has to end, and
 * then the host follows, new sessions before those that are open. Only more is a grant: the host holds it, or nothing is changed.
 */

import { eq, sql } from "drizzle-orm";
import { isWithin } from "../../protocol/profile-order.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { counted, namedUpTo } from "../../shared/text/counted.ts";
import { profileSentence } from "../../shared/text/profile-sentence.ts";
import { type ProfileRow, profiles } from "../../store/schema-companies.ts";
import { refOf } from "../accounts/account.ts";
import { followProfile, noteNarrower } from "../accounts/profile-change.ts";
import { hostProfileOf, type ProfileFields } from "../accounts/profiles.ts";
import { lockFleet } from "../hosts/find-host.ts";
import { noteNarrowedHosts } from "../hosts/group-hours.ts";
import { readHostsOfProfiles, requireComparable, requireHeldHere, usersOfProfile } from "../hosts/profile-limits.ts";
import { unprovenSentence } from "../keys/second-factor.ts";
import { audited, auditedGrant } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { onward } from "../operation/permission.ts";
import { changedProfile, fieldsOf, type ProfileChanges } from "./fields.ts";
import { holdStored } from "./hold.ts";
import { entryOf, holdOrRefuse, lockProfile, type Profile, profileDetail, readProfile } from "./profiles.ts";

/** A changed profile; `record` is the number of the change's record, if further hosts have to follow because it allows less. */
export interface ChangedProfile {
  readonly profile: Profile;
  readonly record: number | undefined;
}

/** How often the profile may change in between before this gives up. */
const ATTEMPTS = 5;
/** Whose sessions end before this answers; the others' follow within a minute. */
const MOST_AT_ONCE = 200;

/**
 * Changes only the supplied fields. Throws `not_found`, `invalid`, and `conflict` as `requireComparable` and `requireHeldHere` do. Where something
 * that has to end goes on, it is owed, and then this throws `internal`, with the profile stored.
 */
export async function updateProfile(
  context: Context,
  ref: number | string,
  changes: ProfileChanges,
): Promise<ChangedProfile> {
  if (Object.values(changes).every((change) => change === undefined))
    throw new UamError("invalid", "Nothing to change");
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { row } = await readProfile(context.db, ref);
    const done = isNarrower(row, changedProfile(fieldsOf(row), changes))
      ? await narrow(context, ref, changes)
      : await widen(context, ref, changes);
    if (done !== undefined) return done;
  }
  throw new UamError("conflict", "Somebody else is changing the same profile; try again");
}

function isNarrower(before: ProfileFields, after: ProfileFields): boolean {
  return !isWithin(hostProfileOf(before), hostProfileOf(after));
}

/** Undefined if the change no longer takes anything away. */
async function narrow(
  context: Context,
  ref: number | string,
  changes: ProfileChanges,
): Promise<ChangedProfile | undefined> {
  let record: number | undefined;
  const narrowed = await audited(context, entryOf("profile.update", ref), async (op) => {
    const { row, after } = await begin(op, ref, changes);
    if (!isNarrower(row, after)) {
      op.record({ unneeded: true });
      return undefined;
    }
    await store(op, row, after);
    const bound = (await usersOfProfile(op.tx, row.name)).map(({ id }) => id);
    await noteNarrower(op, bound);
    noteNarrowedHosts(op, [...((await readHostsOfProfiles(op.tx, [row.id])).get(row.id) ?? [])], (id) => {
      record = id;
    });
    return { bound, profile: await readProfile(op.tx, ref) };
  });
  if (narrowed === undefined) return undefined;
  await follow(onward(context), narrowed.profile.row.name, narrowed.bound);
  return { profile: narrowed.profile, record };
}

/** Has the host hold the narrower profile, and ends what it no longer allows. */
async function follow(context: Context, name: string, bound: readonly number[]): Promise<void> {
  const left: string[] = [];
  const state = (await holdStored(context)).find((one) => one.name === name);
  if (state?.state === "problem") left.push(state.problem);
  for (const id of bound.slice(0, MOST_AT_ONCE)) {
    await followProfile(context, id, "takes").catch((error: unknown) => left.push(publicMessage(error)));
  }
  if (left.length === 0) return;
  const sentence = `The profile ${name} is stored, but some may still do more until this is done. Left to do, and tried again until it is done: ${left.slice(0, 10).join(". ")}`;
  throw new UamError("internal", sentence, { reason: "access.owed" });
}

/** Undefined if the change meanwhile takes something away. */
async function widen(
  context: Context,
  ref: number | string,
  changes: ProfileChanges,
): Promise<ChangedProfile | undefined> {
  let regained: readonly number[] = [];
  const widened = await auditedGrant(context, entryOf("profile.update", ref), async (op) => {
    const { row, after } = await begin(op, ref, changes);
    if (isNarrower(row, after)) {
      op.record({ unneeded: true });
      return undefined;
    }
    await store(op, row, after);
    await holdOrRefuse(op, row.name);
    if (row.attestation !== after.attestation) regained = (await usersOfProfile(op.tx, row.name)).map(({ id }) => id);
    return { profile: await readProfile(op.tx, ref), record: undefined };
  });
  // Keys without proof open their accounts again: those of others do once the host is compared.
  for (const id of regained.slice(0, MOST_AT_ONCE)) {
    await followProfile(onward(context), id, "gives").catch((error: unknown) => {
      context.log.warn("an account does not follow its wider profile yet; the host's comparison will see to it", {
        error,
      });
    });
  }
  return widened;
}

async function begin(op: Operation, ref: number | string, changes: ProfileChanges) {
  await lockFleet(op.tx);
  const { row } = await lockProfile(op.tx, ref);
  op.record({ resourceId: String(row.id) });
  op.about({ detail: { name: row.name } });
  return { row, after: changedProfile(fieldsOf(row), changes) };
}

async function store(op: Operation, before: ProfileRow, after: ProfileFields): Promise<void> {
  const { tx, context } = op;
  const updatedAt = context.clock.now();
  await tx
    .update(profiles)
    .set({ ...after, updatedAt })
    .where(eq(profiles.id, before.id));
  await requireComparable(tx);
  const bound = context.host.mode === "sudo" ? await usersOfProfile(tx, before.name) : [];
  if (bound.length > 0) requireHeldHere(context, [hostProfileOf(after)]);
  op.record({ detail: changeDetail(before, { ...before, ...after }) });
}

/** Only what has changed, new and old. */
function changeDetail(before: ProfileRow, after: ProfileRow): AuditDetail {
  const [old, now] = [profileDetail(before), profileDetail(after)];
  const changed = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => old[name] !== now[name]);
  return Object.fromEntries(
    changed.flatMap((name) => [
      [name, now[name] ?? ""],
      [`old_${name}`, old[name] ?? ""],
    ]),
  );
}

/** What changing it would do, and to whom. */
export interface ProfilePreview {
  readonly effects: readonly string[];
  readonly host: readonly string[];
  /** How many accounts on the service's own host would have what is open ended. */
  readonly users: number;
}

const MOST_NAMED = 20;

/** Previews `updateProfile`: who has the profile, and what of theirs ends. Reads without locks, changes nothing and records nothing. */
export async function previewProfile(
  context: Context,
  ref: number | string,
  changes: ProfileChanges,
): Promise<ProfilePreview> {
  const { db, host } = context;
  const { row } = await readProfile(db, ref);
  const after = hostProfileOf(changedProfile(fieldsOf(row), changes));
  const bound = await usersOfProfile(db, row.name);
  const says = [`Who has the profile ${row.name} ${profileSentence(after)}.`];
  if (isWithin(hostProfileOf(row), after)) {
    return { effects: [...says, "Nothing that is open ends."], host: [], users: 0 };
  }
  if (after.attestation === "required" && row.attestation !== "required") {
    const bySome = sql`select g.user_id from grants g join host_groups hg on hg.id = g.group_id where hg.profile = ${row.name}`;
    says.push(await unprovenSentence(db, sql`profile = ${row.name} or id in (${bySome})`));
  }
  const open = await host.countSessions(bound.map(refOf));
  const names = bound.map(({ username }) => username).filter((name) => (open?.get(hostAccountOf(name)) ?? 1) > 0);
  const ends =
    names.length === 0
      ? "Nobody who has it is logged in on the service's own host."
      : `Every session and process of ${counted(names.length, "account")} on the service's own host ends: ${namedUpTo(MOST_NAMED, names)}.`;
  return { effects: [...says, ends, "Further hosts end what is open there, too."], host: [], users: names.length };
}
