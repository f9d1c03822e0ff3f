/**
 * Imports a file of new users. Each is created by an operation of its own, with its own record: a crash, or a failure in the middle,
 * leaves whole users. They stay, because taking them back would take access away from people who may already use it; the rest is said, and
 * the same file, imported again, makes it.
 */

import { inArray, sql } from "drizzle-orm";
import { publicMessage, UamError } from "../../../shared/errors.ts";
import { counted } from "../../../shared/text/counted.ts";
import { LOCKS } from "../../../store/advisory-locks.ts";
import { accounts, users } from "../../../store/schema.ts";
import { selectUsersWhere, type User } from "../../accounts/find-user.ts";
import { tellHours } from "../../accounts/hours.ts";
import { allocateUids } from "../../accounts/uid.ts";
import { voidCodes } from "../../auth/codes/otp.ts";
import { holdGroups } from "../../hosts/find-host.ts";
import { grantDefaultGroups, isDefaultLocal } from "../../hosts/first-grant.ts";
import { accountCreated } from "../../mail/messages.ts";
import { queueMails } from "../../mail/outbox.ts";
import { siteWithKeys } from "../../mail/site.ts";
import { audited, auditedGrant } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import type { AuditDetail } from "../../operation/entry.ts";
import { tellSponsors } from "../../sponsors/telling.ts";
import { createdDetail } from "../new-user.ts";
import { createOnHost } from "../users.ts";
import { type Checked, checkImport, type Faults, summary, takenFault } from "./check.ts";
import { type Fault, faultOf, type Line } from "./lines.ts";

export interface ImportOptions {
  /** Whether the lines without faults are imported although others have some. */
  readonly onlyGood?: boolean | undefined;
  /** Whether each gets the mail that a new user gets; otherwise their welcome waits (welcome.ts). By default they do. */
  readonly mail?: boolean | undefined;
}

/** The result of an import. */
export interface Imported extends Pick<Checked, "users" | "ignored"> {
  readonly created: readonly User[];
  /** The lines that were left out. */
  readonly faults: Faults;
}

/** Users that are stored at once where no account is made on a host. Everybody else's changes wait while they are recorded. */
const BATCH = 100;

/**
 * Creates the users of the file, in its order. Throws `invalid`, and creates nobody, if any line has a fault, unless only the good ones
 * are wanted. Throws if one cannot be created after all, saying up to which line it came.
 */
export async function importUsers(
  context: Context,
  bytes: Uint8Array,
  { onlyGood = false, mail = true }: ImportOptions = {},
): Promise<Imported> {
  const checked = await requireImportable(context, bytes, onlyGood);
  const { good } = checked;
  const created: User[] = [];
  const faults: Fault[] = [...checked.all];
  // An account takes the host longer than its record, and one that it refuses must not undo others.
  const isMade = context.host.mode !== "dry-run" && (await isDefaultLocal(context.db));
  const size = isMade ? 1 : BATCH;
  for (let at = 0; at < good.length; at += size) {
    const lines = good.slice(at, at + size);
    try {
      const made = await createBatch(context, lines, { onlyGood, mail });
      created.push(...made);
      const names = new Set(made.map(({ username }) => username));
      faults.push(...lines.filter(({ user }) => !names.has(user.username)).map(takenFault));
    } catch (error) {
      const [line, ...others] = lines;
      if (line === undefined) throw error;
      const isOnlyTheirs = others.length === 0 && error instanceof UamError && error.code === "conflict";
      if (!onlyGood || !isOnlyTheirs) throw stoppedAt(line, error, { created: created.length, of: good.length });
      faults.push(faultOf(line.line, "username", error));
    }
  }
  return { users: checked.users, ignored: checked.ignored, created, faults: summary(faults) };
}

/** The checked file; throws `invalid` if it cannot be imported like this. That is recorded as a creation that failed. */
async function requireImportable(context: Context, bytes: Uint8Array, onlyGood: boolean): Promise<Checked> {
  return await audited(
    context,
    { action: "user.create" },
    {
      prepare: () => checkImport(context, bytes),
      run: async (op, checked) => {
        op.about({ detail: { import: checked.users } });
        if (!onlyGood) refuseFaults(checked);
        op.record({ unneeded: true });
        return checked;
      },
    },
  );
}

function refuseFaults({ users: all, good, faults: { existing, faulty, total, items } }: Checked): void {
  const [first] = items;
  if (first === undefined) return;
  const place = first.column === "" ? `line ${first.line}` : `line ${first.line}, ${first.column}`;
  const more = total > 1 ? `, and ${counted(total - 1, "more fault")}` : "";
  const those = existing > 0 && faulty === 0 ? `${existing} of the ${counted(all, "user")} there already` : "";
  const sentence = `Nobody was imported: ${place}: ${first.error}${more}`;
  throw new UamError("invalid", those === "" || good.length === 0 ? sentence : `${sentence} (${those})`, {
    reason: faulty === 0 ? "user.taken" : "request.invalid",
  });
}

/** The message about an import that stopped: how far it came, what stays, and what to do. */
function stoppedAt(
  line: Line,
  error: unknown,
  { created, of }: { readonly created: number; readonly of: number },
): Error {
  const why = `line ${line.line} (${line.user.username}): ${publicMessage(error)}`;
  const those = `${created} of ${counted(of, "user")} were imported, and stay`;
  const rest = "For the rest, import the file again, only the good lines";
  const sentence = created === 0 ? `Nobody was imported: ${why}` : `${those}. ${rest}. What stopped it: ${why}`;
  if (!(error instanceof UamError)) return new UamError("internal", sentence, { cause: error });
  const { code, reason, retryAfter } = error;
  const again = retryAfter === undefined ? {} : { retryAfter };
  return new UamError(code, sentence, { cause: error, reason, ...again });
}

/** Creates these users, all or none; those whose names were taken meanwhile are left out, or make it throw `conflict`. */
async function createBatch(
  context: Context,
  lines: readonly Line[],
  { onlyGood, mail }: { readonly onlyGood: boolean; readonly mail: boolean },
): Promise<readonly User[]> {
  const [first] = lines;
  const detail: AuditDetail =
    lines.length === 1 && first ? { username: first.user.username } : { import: lines.length };
  return await auditedGrant(context, { action: "user.create", detail }, async (op) => {
    const stored = await store(op, lines, mail);
    const missing = lines.find(({ user }) => !stored.some(({ username }) => username === user.username));
    if (missing !== undefined && !onlyGood) {
      throw new UamError("conflict", takenFault(missing).error, { reason: "user.taken" });
    }
    op.record({ unneeded: true });
    if (stored.length === 0) return stored;
    // Codes are kept by name: a code sent to a name's former owner must not work for its new one.
    await voidCodes(
      op.tx,
      stored.map(({ username }) => username),
    );
    if (mail) await queueWelcomes(op, stored);
    await tellSponsors(op, stored);
    for (const user of stored) {
      await tellHours(op, user);
      if (user.local) await createOnHost(op, user);
      const entry = { action: "user.create", resourceId: String(user.id), subjectId: user.id } as const;
      const about = { username: user.username, ...createdDetail(user), ...(mail ? {} : { welcome: "pending" }) };
      op.alsoRecord({ entry: { ...entry, detail: about }, result: "success" });
    }
    return stored;
  });
}

async function queueWelcomes(op: Operation, created: readonly User[]): Promise<void> {
  const site = await siteWithKeys(op.context);
  const mails = created.map((user) => ({ recipient: user.email, message: accountCreated(site, user) }));
  await queueMails(op, mails);
}

/** Stores those whose names are free, with uids and grants. */
async function store(op: Operation, lines: readonly Line[], mail: boolean): Promise<readonly User[]> {
  const { tx, context } = op;
  const now = context.clock.now();
  await holdGroups(tx, [...new Set(lines.flatMap(({ user }) => user.requestGroups ?? []))]);
  const uids = await allocateUids(context, lines.length);
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.userImport})`);
  const wanted = lines.map(({ user }) => ({
    ...user,
    sourceNetworks: [...user.sourceNetworks],
    ...(mail ? {} : { welcomePendingSince: now }),
    createdAt: now,
    updatedAt: now,
  }));
  const rows = await tx.insert(users).values(wanted).onConflictDoNothing({ target: users.username }).returning();
  if (rows.length === 0) return [];
  const withUids = rows.map((row, at) => ({ ...row, uid: uids[at] ?? 0 }));
  await tx.insert(accounts).values(withUids.map(({ id, uid }) => ({ userId: id, uid })));
  const ids = rows.map(({ id }) => id);
  await grantDefaultGroups(op, ids);
  return await selectUsersWhere(tx, inArray(users.id, ids));
}
