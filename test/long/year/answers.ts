/** Who answers in reviews, and how sponsors are replaced: by links, also old, forwarded and dead ones, and by administrators. */

import { decide, lookAt } from "../../../src/domain/decisions/decisions.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { answerItems } from "../../../src/domain/reviews/answer.ts";
import { closeReview } from "../../../src/domain/reviews/close.ts";
import { startReview } from "../../../src/domain/reviews/start.ts";
import { moveSponsor } from "../../../src/domain/sponsors/moving.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { active, answer, askedOf, begin, disable, isOver, type Review, settle, sponsorOf } from "./oracle.ts";
import { addressOf, attempt, count, DAY, find, type MailedLink, nowOf, pick, STEP, told, type Year } from "./scene.ts";

const LINK_TTL = 14 * DAY;
/** How long somebody keeps a link in which there is nothing any more. */
const KEPT = 20 * DAY;

interface Given {
  readonly id: number;
  readonly answer: "keep" | "end" | "shorten";
  readonly reason: string;
  readonly until?: Date;
}

/** Most people answer within days, some never, and now and then somebody tries an old link. */
export async function useLinks(year: Year): Promise<void> {
  const now = nowOf(year);
  year.links = year.links.filter((link) => now - link.at < KEPT);
  for (const link of [...year.links]) {
    const zeal = link.kind === "end" ? 1 / 4000 : (Number(/\d+/.exec(link.to)?.[0] ?? 0) % 5) / 250;
    if (year.random() < zeal * STEP) await (link.kind === "end" ? endByLink(year, link) : answerByLink(year, link));
  }
}

function anybody(year: Year): Context {
  const ip = `203.0.113.${Math.floor(year.random() * 250)}`;
  return { ...year.world.operator(), actor: { type: "anonymous", name: "", ip } };
}

function isAlive(year: Year, link: MailedLink): boolean {
  return !link.isDead && nowOf(year) - link.at < LINK_TTL;
}

async function answerByLink(year: Year, link: MailedLink): Promise<void> {
  const review = year.book.reviews.get(link.about[0] ?? 0);
  const asked = review === undefined || review.closed ? [] : askedOf(year.book, review, link.to);
  const before = [...(review?.items ?? [])].filter(([, item]) => item.by === link.to).map(([id]) => id);
  const isShown = isAlive(year, link) && asked.length + before.length > 0;
  // A scanner, and whoever it was forwarded to.
  for (let times = 0; times < 2; times++) {
    const looked = await attempt(year, "look", () => lookAt(anybody(year), link.token));
    told(year, { what: "look", made: looked, expected: isShown ? undefined : "nothing is asked" });
    const shown = "done" in looked ? looked.done.items.map(({ id }) => id) : [];
    const expected = isShown ? [...before.sort(byNumber), ...[...asked].sort(byNumber)] : [];
    if (shown.join() !== expected.join()) find(year, `a link of ${link.to} shows ${shown}, expected ${expected}`);
  }
  const given = draw(year, asked.length === 0 ? before : asked);
  if (review === undefined || given.length === 0) return;
  const isTaken = isShown && asked.length > 0;
  const made = await attempt(year, "answer", () => decide(anybody(year), link.token, given));
  const what = asked.length === 0 ? "answer-again by a link" : "answer by a link";
  if ("refused" in made && made.refused.startsWith("internal") && year.isShaky && isTaken) count(year, "answer owed");
  else if (!told(year, { what, made, expected: isTaken ? undefined : "nothing is asked" })) return;
  for (const one of given) note(year, review, one, link.to);
}

function byNumber(one: number, other: number): number {
  return one - other;
}

/** All kept, or each as it comes, or of some only. */
function draw(year: Year, asked: readonly number[]): readonly Given[] {
  const chance = year.random();
  const some = chance < 0.7 ? asked : asked.filter(() => year.random() < 0.5);
  return some.map((id) => (chance < 0.5 ? { id, answer: "keep", reason: "Still with us" } : drawOne(year, id)));
}

function drawOne(year: Year, id: number): Given {
  const now = nowOf(year);
  const chance = year.random();
  const person = year.book.people.get(id);
  if (chance < 0.12) return { id, answer: "end", reason: "Left" };
  if (chance < 0.24 && person !== undefined && !isOver(person, now) && person.expireAt > now + 3 * DAY) {
    const until = new Date(now + DAY + Math.floor(year.random() * (person.expireAt - now - 2 * DAY)));
    return { id, answer: "shorten", reason: "Until then", until };
  }
  return { id, answer: "keep", reason: "Needed" };
}

function note(year: Year, review: Review, { id, answer: said, reason, until }: Given, by: string): void {
  answer(year.book, review, id, { answer: said, by, reason, until: until?.getTime() }, nowOf(year));
  review.closed = !year.isShaky && [...review.items.values()].every((item) => item.answer !== undefined);
  count(year, `answered: ${said}`);
}

/** "No longer with us", from any mail about them. */
async function endByLink(year: Year, link: MailedLink): Promise<void> {
  const now = nowOf(year);
  const id = pick(year, link.about);
  const person = id === undefined ? undefined : year.book.people.get(id);
  if (id === undefined) return;
  const isTheirs = person !== undefined && sponsorOf(year.book, person) === link.to;
  const isActive = person?.status === "active" && !isOver(person, now) && !person.disabled;
  const expected = isAlive(year, link) && isTheirs && isActive && !link.used.has(id) ? undefined : "they cannot end it";
  const made = await attempt(year, "end", () => decide(anybody(year), link.token, [{ id, answer: "end" }]));
  const isOwed = "refused" in made && made.refused.startsWith("internal") && year.isShaky && expected === undefined;
  if (!isOwed && !told(year, { what: "end by a link", made, expected })) return;
  link.used.add(id);
  if (person !== undefined) disable(person, `${link.to}, by a link`);
}

function openReview(year: Year): Review | undefined {
  return pick(
    year,
    [...year.book.reviews.values()].filter(({ closed }) => !closed),
  );
}

function administrator(year: Year): Context {
  return { ...year.world.operator(), actor: { type: "admin", name: "ada", ip: "192.0.2.9" } };
}

/** One item; now and then at the same instant as the sponsor, or to let the answer wait. */
export async function administratorsAnswer(year: Year): Promise<void> {
  const review = openReview(year);
  const open = [...(review?.items ?? [])].filter(([id, item]) => item.answer === undefined && year.book.people.has(id));
  const [id, item] = pick(year, open) ?? [];
  if (review === undefined || id === undefined || item === undefined) return;
  const context = administrator(year);
  if (year.random() < 0.08) {
    const until = review.dueAt + (1 + Math.floor(year.random() * 6)) * DAY;
    const given = { userId: id, answer: "grace", until: new Date(until), reason: "On leave" } as const;
    const made = await attempt(year, "grace", () => answerItems(context, review.id, [given]));
    const isPast = until <= nowOf(year);
    if (told(year, { what: "grace", made, expected: isPast ? "it lies in the past" : undefined })) item.grace = until;
    return;
  }
  const given = drawOne(year, id);
  const mine = () => answerItems(context, review.id, [{ userId: id, ...given }]);
  const person = year.book.people.get(id);
  const sponsor = person === undefined ? "" : sponsorOf(year.book, person);
  const link = year.links.find((one) => one.to === sponsor && one.about[0] === review.id && one.kind === "review");
  if (link === undefined || !isAlive(year, link) || year.isShaky || year.random() < 0.7) {
    const made = await attempt(year, "item", mine);
    const isOwed = "refused" in made && made.refused.startsWith("internal") && year.isShaky;
    if (isOwed || told(year, { what: "item answered by an administrator", made, expected: undefined }))
      note(year, review, given, "ada");
    return;
  }
  const theirs: Given = { id, answer: "keep", reason: "Mine" };
  const both = await Promise.all([
    attempt(year, "both", mine),
    attempt(year, "both", () => decide(anybody(year), link.token, [theirs])),
  ]);
  const done = both.map((made) => "done" in made);
  count(year, "two answers at the same instant");
  if (done[0] === done[1]) find(year, `of two answers at the same instant: ${JSON.stringify(both).slice(0, 300)}`);
  if (done[0]) note(year, review, given, "ada");
  else if (done[1]) note(year, review, theirs, sponsor);
}

/** A review of one company, or of one sponsor's people. */
export async function reviewSome(year: Year): Promise<void> {
  const now = nowOf(year);
  const dueDays = 3 + Math.floor(year.random() * 15);
  const disables = year.random() < 0.8;
  const firm = year.random() < 0.5 ? pick(year, [...year.book.firms.values()]) : undefined;
  const sponsor = addressOf(year);
  const scope = firm === undefined ? { sponsor } : { company: firm.id };
  const members = active(year.book, now).filter((person) =>
    firm === undefined ? sponsorOf(year.book, person) === sponsor : person.firm === firm.id,
  );
  const unanswered = disables ? "disable" : "report";
  const made = await attempt(year, "review", () => startReview(administrator(year), { scope, dueDays, unanswered }));
  if (!told(year, { what: "review begun", made, expected: members.length === 0 ? "nobody" : undefined })) return;
  const id = "done" in made ? made.done.row.id : 0;
  begin(year.book, { id, dueAt: now + dueDays * DAY, disables }, members);
}

export async function closeByHand(year: Year): Promise<void> {
  const review = openReview(year);
  if (review === undefined || year.isShaky || year.random() < 0.5) return;
  const unanswered = year.random() < 0.5 ? "disable" : "report";
  const made = await attempt(year, "close", () => closeReview(administrator(year), review.id, unanswered));
  if (!told(year, { what: "closed by hand", made, expected: undefined })) return;
  settle(year.book, review, nowOf(year), "ada", unanswered === "disable");
  review.closed = true;
}

export async function replaceSponsor(year: Year): Promise<void> {
  const person = pick(year, [...year.book.people.values()]);
  if (person === undefined) return;
  const before = sponsorOf(year.book, person);
  const sponsorEmail = year.random() < 0.8 ? addressOf(year) : "";
  const made = await attempt(year, "sponsor", () => updateUser(year.world.operator(), person.id, { sponsorEmail }));
  if (!told(year, { what: "sponsor replaced", made, expected: undefined })) return;
  person.sponsor = sponsorEmail;
  if (sponsorOf(year.book, person) === before) return;
  for (const link of [...year.links, ...year.world.links]) {
    if (link.kind === "end" && link.to === before)
      Object.assign(link, { about: link.about.filter((id) => id !== person.id) });
  }
}

/** All of somebody's people at once, as when they leave. */
export async function moveSponsors(year: Year): Promise<void> {
  const [from, to] = [addressOf(year), addressOf(year)];
  if (from === to) return;
  const people = [...year.book.people.values()].filter(({ sponsor }) => sponsor === from);
  const firms = [...year.book.firms.values()].filter(({ sponsor }) => sponsor === from);
  const made = await attempt(year, "move", () => moveSponsor(year.world.operator(), { from, to }));
  if (!told(year, { what: "moved from one sponsor to another", made, expected: undefined })) return;
  for (const one of [...people, ...firms]) one.sponsor = to;
  if (people.length + firms.length === 0) return;
  for (const link of year.links) if (link.to === from) link.isDead = true;
}
