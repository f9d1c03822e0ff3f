/** Finishes owed closings: access that could not be taken away completely, or a removal that a crash cut short. */

import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { type Closed, disableAccess, removeAccess, shutAccess } from "../accounts/access.ts";
import { activeKeys } from "../accounts/account.ts";
import { actorOf, type Closing, dueClosings, findClosing, listClosings } from "../accounts/closings.ts";
import { lockUserIfStored, type User } from "../accounts/find-user.ts";
import { finishLeaving } from "../accounts/local-account.ts";
import { finishNarrowing } from "../accounts/narrowing.ts";
import { finishProfile } from "../accounts/profile-change.ts";
import { finishShortening } from "../accounts/shortening.ts";
import { finishRevocation } from "../keys/keys.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Services } from "../operation/context.ts";
import { type AuditDetail, SYSTEM } from "../operation/entry.ts";
import { finishEnding } from "../requests/end.ts";
import { reasonDetail } from "../users/changeable.ts";
import { lockAccess } from "../users/own-lock.ts";
import { removedDetail } from "../users/users.ts";

/**
 * Continues every closing that is due, or all of them. One that is under way is waited for, and then needs nothing. A finished closing
 * is recorded in its requester's name or, if that was recorded at the time, as a repair; a repeated failure is logged, and due again
 * later.
 */
export async function finishClosings(services: Services, which: "due" | "all" = "due"): Promise<void> {
  const { db, clock, log } = services;
  for (const closing of await (which === "due" ? dueClosings(db, clock.now()) : listClosings(db))) {
    const { userId, kind } = closing;
    try {
      faultPoint("closing: found unfinished, not continued");
      const owed = await finishClosing(services, closing);
      if (owed.length > 0)
        log.error("access is not completely taken away yet; this will be retried", { userId, kind, owed });
    } catch (error) {
      log.error("access could not be taken away completely; this will be retried", { userId, kind, error });
    }
  }
}

/** Returns the work that is still owed. */
async function finishClosing(services: Services, closing: Closing): Promise<readonly string[]> {
  const isRecorded = closing.action === "";
  const action = isRecorded ? "reconcile.repair" : (closing.action as AuditAction);
  // The rest of narrowing a key is recorded as a repair of its user's account.
  const resourceId = String(closing.keyId > 0 && !isRecorded ? closing.keyId : closing.userId);
  const context = { ...services, actor: isRecorded ? SYSTEM : actorOf(closing), requestId: "" };
  return await auditedClosing(context, { action, resourceId, subjectId: closing.userId }, async (op) => {
    const user = await lockUserIfStored(op.tx, closing.userId);
    const noted = await findClosing(op.tx, closing.id);
    if (user === undefined || noted === undefined) {
      op.record({ unneeded: true });
      return [];
    }
    op.about({ detail: { username: user.username, ...(isRecorded ? {} : why(noted)) } });
    return await goOn(op, user, noted);
  });
}

function why({ reason, review }: Closing): AuditDetail {
  return { ...reasonDetail(reason), ...(review === null ? {} : { review }) };
}

async function goOn(op: ClosingOperation, user: User, noted: Closing): Promise<readonly string[]> {
  switch (noted.kind) {
    case "revoke": {
      if (!(await finishRevocation(op, user.id, noted))) op.record({ unneeded: true });
      return [];
    }
    case "remove": {
      const keys = await activeKeys(op.tx, user.id);
      op.record({ detail: removedDetail(user, keys.length) });
      return stillOwed(op, await removeAccess(op, user, { note: noted.id }));
    }
    case "leave": {
      const closed = await finishLeaving(op, user, noted);
      // The user has the account again: nothing was removed.
      if (user.local) op.record({ unneeded: true });
      return stillOwed(op, closed);
    }
    case "narrow":
      return await finishNarrowing(op, user, noted);
    case "shorten":
      return await finishShortening(op, user, noted);
    case "profile":
      return await finishProfile(op, user, noted);
    case "shut": {
      const cutShort = noted.action !== "";
      const closed = await shut(op, user, noted);
      op.record({ detail: { status: closed.user.status } });
      if (!cutShort) op.record({ detail: { found: noted.problem, done: "what was left of taking access away" } });
      if (cutShort && closed.owed.length > 0) op.refuse(closed.owed.join(". "));
      return cutShort ? [] : stillOwed(op, closed);
    }
  }
}

async function shut(op: ClosingOperation, user: User, { id: note, action, begunAt: at }: Closing): Promise<Closed> {
  if (action === "") return await shutAccess(op, user, note);
  if (action === "access.end") return await finishEnding(op, user, note);
  return action === "user.lock"
    ? await lockAccess(op, user, { note, at })
    : await disableAccess(op, user, { note, at });
}

/** The note has the repeated failure; the audit log does not repeat it. */
function stillOwed(op: ClosingOperation, { owed }: Closed): readonly string[] {
  if (owed.length > 0) op.record({ unneeded: true });
  return owed;
}
