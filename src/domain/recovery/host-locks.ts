/**
 * Accounts that `uam lock` shut on a remote host, without the service: shut everywhere, in the name of the operator there.
 */

import { and, eq, inArray, like, notInArray } from "drizzle-orm";
import type { HostLock } from "../../protocol/fleet.ts";
import { UamError } from "../../shared/errors.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { blankControlCharacters } from "../../shared/text/text.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { importedLocks } from "../../store/schema-fleet.ts";
import { disableAccess, owedSentence } from "../accounts/access.ts";
import { findUserByName, lockUser } from "../accounts/find-user.ts";
import { accountsThere } from "../hosts/host-accounts.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { Context, Services } from "../operation/context.ts";

/**
 * Disables each user once, however often the lock is reported, as a disable by an administrator does; steps that fail on the service's
 * own host are owed, as always. A lock of an account that the host does not have counts as recorded, and changes nothing.
 */
export async function importHostLocks(
  services: Services,
  host: AdmittedHost,
  locks: readonly HostLock[],
): Promise<void> {
  const { db, log } = services;
  if (locks.length > 0) {
    const own = await accountsThere(
      db,
      host.id,
      locks.map(({ username }) => hostAccountOf(username)),
    );
    const marks = locks.map(({ id }) => markOf(host.id, id));
    const done = await db.select().from(importedLocks).where(inArray(importedLocks.id, marks));
    const known = new Set(done.map(({ id }) => id));
    for (const lock of locks) {
      if (known.has(markOf(host.id, lock.id))) continue;
      if (own.has(hostAccountOf(lock.username))) await importLock(services, host, lock);
      else {
        log.warn("a host locked an account that it does not have", { host: host.name, username: lock.username });
        await services.autocommit
          .insert(importedLocks)
          .values({ id: markOf(host.id, lock.id), at: services.clock.now() })
          .onConflictDoNothing();
      }
    }
  }
  if (host.recordedLocks.length > 0) await forgetMarks(services, host.id, locks);
}

/** The agent has forgotten those that it no longer reports, so nobody needs their marks. */
async function forgetMarks({ autocommit }: Services, host: number, locks: readonly HostLock[]): Promise<void> {
  const kept = locks.map(({ id }) => markOf(host, id));
  const ofHost = like(importedLocks.id, `${host}/lock/%`);
  await autocommit
    .delete(importedLocks)
    .where(kept.length === 0 ? ofHost : and(ofHost, notInArray(importedLocks.id, kept)));
}

/** As host/lock/id: the service's own locks have no slash. */
function markOf(host: number, id: string): string {
  return `${host}/lock/${id}`;
}

async function importLock(services: Services, host: AdmittedHost, lock: HostLock): Promise<void> {
  const { clock, autocommit } = services;
  const name = blankControlCharacters(lock.operator.toWellFormed());
  const context: Context = { ...services, actor: { type: "cli", name, ip: "" }, requestId: "" };
  const known = await findUserByName(autocommit, lock.username);
  const at = new Date(Math.min(new Date(lock.at).getTime(), clock.now().getTime()));
  const subject = known === undefined ? {} : { resourceId: String(known.id), subjectId: known.id };
  const detail = { username: lock.username, host: host.name, locked_at: formatTimestamp(at) };
  try {
    await auditedClosing(context, { action: "user.disable", ...subject, detail }, async (op) => {
      if (known === undefined) {
        throw new UamError("not_found", `There is no user named ${lock.username}`, { reason: "user.missing" });
      }
      const user = await lockUser(op.tx, known.id);
      // The mark commits with the change; of two at the same time one stores it.
      const [marked] = await op.tx
        .insert(importedLocks)
        .values({ id: markOf(host.id, lock.id), at })
        .onConflictDoNothing()
        .returning({ id: importedLocks.id });
      if (marked === undefined) return op.record({ unneeded: true });
      // A host that says it again and again is recorded once.
      if (user.status === "disabled") return op.record({ unneeded: true });
      const closed = await disableAccess(op, user, { at });
      op.record({ detail: { status: closed.user.status } });
      if (closed.owed.length > 0) op.refuse(owedSentence(`${lock.username} is disabled`, closed));
    });
  } catch (error) {
    if (!(error instanceof UamError)) throw error;
    const [marked] = await autocommit
      .select()
      .from(importedLocks)
      .where(eq(importedLocks.id, markOf(host.id, lock.id)));
    // Committed with something owed, or deleted meanwhile; anything else has to be tried again with the next report.
    if (marked === undefined && error.code !== "not_found") throw error;
    services.log.warn("a lock from a host is recorded as failed", { host: host.name, username: lock.username, error });
    await autocommit
      .insert(importedLocks)
      .values({ id: markOf(host.id, lock.id), at })
      .onConflictDoNothing();
  }
}
