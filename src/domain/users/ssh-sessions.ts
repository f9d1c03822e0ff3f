/** Lists the users who are logged in by SSH now, and ends single logins. */

import { and, desc, eq, inArray } from "drizzle-orm";
import type { SshSession } from "../../protocol/logins.ts";
import { UamError } from "../../shared/errors.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type KeyRow, sshKeys } from "../../store/schema.ts";
import { refOf } from "../accounts/account.ts";
import { lockUser, requireUser } from "../accounts/find-user.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { requirePermission } from "../operation/permission.ts";

/** An open login, and the user's own key that is proven to have opened it; a revoked one, too. */
export interface OpenSession extends Omit<SshSession, "fingerprint"> {
  readonly key: KeyRow | undefined;
}

/** The user's open logins, oldest first. Throws `not_found` without such a user, `internal` if the host cannot be asked. */
export async function listSshSessions(context: Context, userId: number): Promise<readonly OpenSession[]> {
  const user = await requireUser(context.db, userId);
  const sessions = await context.host.sessions(refOf(user));
  const keys = await keysOf(context.db, userId, sessions);
  return sessions.map(({ fingerprint, ...session }) => ({
    ...session,
    key: keys.find((key) => key.fingerprint === fingerprint),
  }));
}

/**
 * Ends one open login and everything that runs in it; when this returns, it is over. Throws `not_found` if it is not (or no
 * longer) open, and `internal` with a sentence if a part of it could not be ended. The user may log in again.
 */
export function endSshSession(context: Context, userId: number, sessionId: string): Promise<void> {
  const entry = { action: "session.end", resourceId: String(userId), subjectId: userId } as const;
  return auditedClosing(context, { ...entry, detail: { session: sessionId } }, async (op) => {
    const user = await lockUser(op.tx, userId);
    op.about({ detail: { username: user.username } });
    // Nothing is noted of it: from here on it goes forward.
    await requirePermission(op.tx, op.context, entry.action);
    const account = refOf(user);
    const session = (await context.host.sessions(account)).find(({ id }) => id === sessionId);
    if (session === undefined) throw gone();
    const { from, since, fingerprint } = session;
    op.about({ detail: { from, since: formatTimestamp(since) } });
    if (fingerprint !== undefined) op.about({ detail: { fingerprint } });
    if ((await context.host.endSession(account, sessionId)) === "gone") throw gone();
    op.begun("The session has ended, but the database failed before this could be recorded.");
  });
}

function gone(): UamError {
  return new UamError("not_found", "There is no such session, or it has already ended", {
    reason: "connection.missing",
  });
}

/** The user's keys that have one of the fingerprints; of those with the same, the newest first. */
async function keysOf(
  db: Database | Transaction,
  userId: number,
  sessions: readonly SshSession[],
): Promise<readonly KeyRow[]> {
  const wanted = sessions.flatMap(({ fingerprint = [] }) => fingerprint);
  if (wanted.length === 0) return [];
  return await db
    .select()
    .from(sshKeys)
    .where(and(eq(sshKeys.userId, userId), inArray(sshKeys.fingerprint, wanted)))
    .orderBy(desc(sshKeys.id));
}
