/** Runs the year: each hour somebody does something, the service does its work, and everything is held against the oracle. */

import { sql } from "drizzle-orm";
import { beat as beatOfService } from "../../../src/domain/lifecycle/heartbeat.ts";
import { reportReview } from "../../../src/domain/reviews/report.ts";
import { verifyReport } from "../../../src/domain/reviews/verify.ts";
import { updateSetting } from "../../../src/domain/settings/settings.ts";
import { lostSponsors } from "../../../src/domain/sponsors/sponsors.ts";
import { reportCsv, reportRecord } from "../../../src/server/review-records.ts";
import { doSomething, settleIn } from "./deeds.ts";
import {
  active,
  beat,
  begin,
  dueOfItself,
  isOpen,
  live,
  newBook,
  type Person,
  type Review,
  unansweredWithAccess,
} from "./oracle.ts";
import { count, DAY, find, HOUR, mulberry, nowOf, type Size, STEP, type Year } from "./scene.ts";
import { createWorld } from "./world.ts";

export interface Outcome {
  readonly findings: readonly string[];
  readonly figures: ReadonlyMap<string, number>;
}

/** Findings that say enough. */
const MOST = 20;

export async function runYear(size: Size): Promise<Outcome> {
  const world = await createWorld();
  const now = world.clock.now().getTime();
  const book = newBook(now, size.every * DAY);
  const year: Year = {
    ...{ size, world, book, findings: [], figures: new Map(), saved: undefined, joined: 0, links: [], isShaky: false },
    random: mulberry(size.seed),
  };
  try {
    await updateSetting(world.operator(), "policy.review_every", `${size.every}d`);
    await settleIn(year);
    for (let hour = 0; hour < size.days * 24 && year.findings.length < MOST; hour++) {
      world.clock.advance(HOUR);
      if (hour % STEP !== 0) await pass(year);
      else {
        await doSomething(year);
        await look(year, hour);
      }
      if (hour % (30 * 24) === 30 * 24 - 1) size.tell?.(`day ${(hour + 1) / 24}: ${summary(year)}`);
    }
    await reports(year, true);
    await lost(year);
  } finally {
    await world.close();
  }
  return year;
}

/** An hour in which the service only sees that the time goes on. */
async function pass({ world, book }: Year): Promise<void> {
  await beatOfService(world.services());
  beat(book, world.clock.now().getTime());
}

/** The service works, the oracle does what the rules say, and both are compared. */
export async function look(year: Year, hour: number): Promise<void> {
  const { world, book } = year;
  await world.work();
  if (year.isShaky) {
    year.isShaky = false;
    world.host.failing.clear();
    // What is still to be taken away is, in the next turn.
    await world.work();
    world.errors.splice(0);
  }
  const begins = live(book, nowOf(year));
  await newReviews(year, begins);
  for (const error of world.errors.splice(0)) find(year, `logged: ${error}`);
  compareHost(year);
  if (hour % 24 === 0) await compareStored(year);
  await reports(year, false);
}

/** What began by itself; reviews that somebody began are in the book already. */
async function newReviews(year: Year, begins: boolean): Promise<void> {
  const { world, book } = year;
  const newest = Math.max(0, ...book.reviews.keys());
  const rows = await world.services().db.execute<{ id: string; due: string; users: string }>(sql`
    select r.id, (extract(epoch from r.due_at) * 1000)::bigint as due,
      (select json_agg(i.user_id order by i.user_id)::text from review_items i where i.review_id = r.id) as users
    from reviews r where r.id > ${newest} order by r.id`);
  if (rows.length !== Number(begins)) find(year, `${rows.length} reviews began by themselves, expected ${begins}`);
  for (const { id, due, users } of rows) {
    const members = active(book, nowOf(year));
    const expected = members.map((person) => person.id).sort((one, other) => one - other);
    if (users !== null && JSON.stringify(JSON.parse(users)) !== JSON.stringify(expected))
      find(year, `review ${id} is about ${users}, expected ${expected.join()}`);
    if (Number(due) !== dueOfItself(book, nowOf(year))) find(year, `review ${id} is due at ${due}`);
    begin(book, { id: Number(id), dueAt: Number(due), disables: true }, members);
    book.askedAt = nowOf(year);
    count(year, "reviews of everybody");
  }
}

function compareHost(year: Year): void {
  const { book, world, figures } = year;
  const now = nowOf(year);
  const hasAccess = (person: Person) => {
    const account = world.host.accounts.get(`ext_${person.username}`);
    return account?.open === true && account.expireAt.getTime() > now;
  };
  for (const person of book.people.values()) {
    const [is, should] = [hasAccess(person), isOpen(person, now)];
    if (is === should) continue;
    const state = `${person.status}, until ${new Date(person.expireAt).toISOString()}, last: ${person.because}`;
    find(year, `${person.username} is ${is ? "open" : "shut"}, and should not be: ${state}`);
  }
  for (const name of unansweredWithAccess(book, now, hasAccess)) find(year, `open without an answer: ${name}`);
  if (world.host.accounts.size !== book.people.size)
    find(year, `${world.host.accounts.size} accounts, ${book.people.size} users`);
  figures.set("looks at an account", (figures.get("looks at an account") ?? 0) + book.people.size);
}

async function compareStored(year: Year): Promise<void> {
  const rows = await year.world.services().db.execute<Record<"id" | "status" | "at" | "firm" | "sponsor", string>>(sql`
    select id, status, (extract(epoch from expire_at) * 1000)::bigint as at, company_id as firm, sponsor_email as sponsor from users`);
  for (const { id, status, at, firm, sponsor } of rows) {
    const person = year.book.people.get(Number(id));
    const stored = [status, at, firm ?? "", sponsor].join();
    const expected = person && [person.status, person.expireAt, person.firm ?? "", person.sponsor].join();
    if (stored !== expected) find(year, `user ${id} is stored as ${stored}, expected ${expected}`);
  }
  if (rows.length !== year.book.people.size) find(year, `${rows.length} users, expected ${year.book.people.size}`);
}

/** The report of each review that closed since, or once more of all. */
async function reports(year: Year, all: boolean): Promise<void> {
  const { world, book } = year;
  const services = world.services();
  const rows = await services.db.execute<{ id: string }>(
    sql`select id from reviews where status = 'closed' order by id`,
  );
  const isClosed = new Set(rows.map(({ id }) => Number(id)));
  for (const review of book.reviews.values()) {
    if (isClosed.has(review.id) !== review.closed) find(year, `review ${review.id} should be closed: ${review.closed}`);
    if (!review.closed || (!all && reported(year).has(review))) continue;
    reported(year).add(review);
    const report = await reportReview(services, review.id);
    const text = review.id % 2 === 0 ? reportCsv(report) : JSON.stringify(reportRecord(report));
    const { faults, isClosed: saysClosed, users } = await verifyReport(services, text);
    for (const fault of faults) find(year, `report of review ${review.id}: ${fault}`);
    if (!saysClosed || users !== review.items.size) find(year, `report of review ${review.id}: ${users} users`);
    const lines = (JSON.parse(JSON.stringify(reportRecord(report))) as { items: readonly Line[] }).items;
    compareLines(year, review, lines);
    count(year, "reports verified");
  }
}

const known = new WeakMap<Year, WeakSet<Review>>();
function reported(year: Year): WeakSet<Review> {
  const seen = known.get(year) ?? new WeakSet();
  known.set(year, seen);
  return seen;
}

interface Line {
  readonly user_id: number;
  readonly answer: string | null;
  readonly answered_by: string;
  readonly reason: string;
  readonly until: string | null;
  readonly grace_until: string | null;
}

function compareLines(year: Year, review: Review, lines: readonly Line[]): void {
  const iso = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString());
  for (const line of lines) {
    const item = review.items.get(line.user_id);
    const said = [line.answer, line.answered_by, line.reason, line.until, line.grace_until].join("|");
    const expected =
      item &&
      [item.answer, item.by, item.reason, iso(item.until), iso(item.grace)].map((part) => part ?? null).join("|");
    if (said !== expected)
      find(year, `report of review ${review.id} about ${line.user_id}: ${said}, expected ${expected}`);
    count(year, `items: ${line.answer}`);
  }
}

/** Who is said to get no mail is one whose mail bounces, or did. */
async function lost(year: Year): Promise<void> {
  for (const { email } of await lostSponsors(year.world.services())) {
    if (!year.world.everBounced.has(email)) find(year, `${email} is said to get no mail`);
  }
}

export function summary({ figures, findings, book }: Year): string {
  const parts = [...figures].map(([what, times]) => `${what} ${times}`).sort();
  return `${book.people.size} users, ${parts.join(", ")}; ${findings.length} findings`;
}
