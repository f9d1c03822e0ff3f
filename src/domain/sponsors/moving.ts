/** Gives all people of one sponsor to another, as when somebody leaves. */

import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Preview } from "../../shared/product/preview.ts";
import { counted, namedUpTo } from "../../shared/text/counted.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type ApprovalRow, approvals, type UserRow, users } from "../../store/schema.ts";
import { type CompanyRow, companies } from "../../store/schema-companies.ts";
import { parseEmail } from "../accounts/username.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation, SponsorPolicy } from "../operation/context.ts";
import type { AuditEntry } from "../operation/entry.ts";
import { askSponsor, UNASKED } from "./asking.ts";
import { killQuestions } from "./questions.ts";
import { isOwn, parseSponsor, sponsorOf } from "./sponsor-email.ts";
import { tellSponsor } from "./telling.ts";

export interface Move {
  readonly from: string;
  readonly to: string;
}

/** A preview, and how many users would be moved. */
export interface MovePreview extends Preview {
  readonly moved: number;
}

/** Names in a sentence. */
const MOST = 20;

/**
 * Gives users, companies and pending applications of one address to another, who is told; returns how many users. Links that the first was mailed
 * are dead from then on. Throws `invalid` for an address that cannot be a sponsor's, or that is one of the users' own.
 */
export async function moveSponsor(context: Context, move: Move): Promise<number> {
  const entry = { action: "sponsor.move", detail: { from: move.from, to: move.to } } as const;
  return await audited(context, entry, async (op) => {
    const { from, to } = parse(context.policy.sponsor, move);
    op.about({ detail: { from, to } });
    const found = await find(op.tx, from, to, true);
    if (found.own.length + found.covered.length + found.companies.length + found.applications.length === 0) {
      op.record({ unneeded: true });
      return 0;
    }
    await store(op, found, to);
    await killQuestions(op.tx, from, context.clock.now());
    const people = [...found.own, ...found.covered];
    await tellSponsor(op, to, people);
    await askSponsor(op, to);
    const { companies: theirs, applications } = found;
    op.record({ detail: { users: people.length, companies: theirs.length, applications: applications.length } });
    for (const entry of entriesOf(found, from, to)) op.alsoRecord({ entry, result: "success" });
    return people.length;
  });
}

/** Previews `moveSponsor`, and throws as it does. */
export async function previewMove({ db, policy }: Context, move: Move): Promise<MovePreview> {
  const { from, to } = parse(policy.sponsor, move);
  const found = await find(db, from, to, false);
  const people = [...found.own, ...found.covered];
  const names = namedUpTo(
    MOST,
    people.map(({ username }) => username),
  );
  const { companies: theirs, applications } = found;
  const effects = [
    people.length === 0
      ? `${from} answers for nobody now.`
      : `${to} answers for ${counted(people.length, "user")} of ${from}, and gets a mail: ${names}.`,
    ...(theirs.length === 0
      ? []
      : [
          `So it is for users who come later from: ${namedUpTo(
            MOST,
            theirs.map(({ name }) => name),
          )}.`,
        ]),
    ...(applications.length === 0 ? [] : [`${to} is asked about ${counted(applications.length, "application")}.`]),
    `Links in earlier mails to ${from} no longer work.`,
  ];
  return { effects, host: [], moved: people.length };
}

function parse(policy: SponsorPolicy, move: Move): Move {
  const from = parseEmail(move.from).toLowerCase();
  const to = parseSponsor(policy, { sponsorEmail: move.to });
  if (to === "") throw new UamError("invalid", "to is empty: name the new sponsor");
  if (from === to) throw new UamError("invalid", "from and to are the same address");
  return { from, to };
}

interface Found {
  /** Users with the sponsor as their own. */
  readonly own: readonly UserRow[];
  /** Users whose company has the sponsor. */
  readonly covered: readonly UserRow[];
  readonly companies: readonly CompanyRow[];
  readonly applications: readonly ApprovalRow[];
}

/** Locked, if that is wanted, in the order in which other changes lock: users, then companies. */
async function find(db: Database | Transaction, from: string, to: string, locked: boolean): Promise<Found> {
  const ofUsers = db.select().from(users).where(eq(users.sponsorEmail, from)).orderBy(asc(users.id));
  const own = await (locked ? ofUsers.for("update") : ofUsers);
  const self = own.find(({ email }) => isOwn(email, to));
  if (self !== undefined) {
    const sentence = `${to} is the address of ${self.username}, and nobody is their own sponsor`;
    throw new UamError("invalid", sentence, { reason: "sponsor.invalid" });
  }
  const ofCompanies = db
    .select()
    .from(companies)
    .where(sql`lower(${companies.sponsorEmail}) = ${from}`)
    .orderBy(asc(companies.id));
  const theirs = await (locked ? ofCompanies.for("no key update") : ofCompanies);
  const ids = theirs.map(({ id }) => id);
  const inCompanies = await db
    .select()
    .from(users)
    .where(and(inArray(users.companyId, ids), eq(users.sponsorEmail, "")))
    .orderBy(asc(users.id));
  const covered = inCompanies.filter((user) => sponsorOf(user, { sponsorEmail: to }) === to);
  const isTheirs = and(eq(approvals.sponsorEmail, from), eq(approvals.status, "pending"));
  const pending = await db.select().from(approvals).where(isTheirs).orderBy(asc(approvals.id));
  // An applicant must not keep others from being moved.
  const applications = pending.filter(({ email }) => !isOwn(email, to));
  return { own, covered, companies: theirs, applications };
}

async function store({ tx, context }: Operation, found: Found, to: string): Promise<void> {
  const set = { sponsorEmail: to, updatedAt: context.clock.now() };
  const ids = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);
  await tx
    .update(users)
    .set(set)
    .where(inArray(users.id, ids(found.own)));
  await tx
    .update(companies)
    .set(set)
    .where(inArray(companies.id, ids(found.companies)));
  const isPending = and(inArray(approvals.id, ids(found.applications)), eq(approvals.status, "pending"));
  await tx
    .update(approvals)
    .set({ sponsorEmail: to, ...UNASKED })
    .where(isPending);
}

/** Each user's own trail says it, and so does each company's. */
function entriesOf({ own, companies: theirs }: Found, from: string, to: string): readonly AuditEntry[] {
  const change = { sponsor_email: to, old_sponsor_email: from };
  return [
    ...own.map(({ id, username }) => {
      const about = { resourceId: String(id), subjectId: id, detail: { username, ...change } };
      return { action: "user.update", ...about } as const;
    }),
    ...theirs.map(({ id, name }) => {
      return { action: "company.update", resourceId: String(id), detail: { name, ...change } } as const;
    }),
  ];
}
