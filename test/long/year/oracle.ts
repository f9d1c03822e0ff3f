/**
 * What the rules make of a year: who may have access at a moment, and why. Shares no code with the program, which is held against it. Times are
 * milliseconds since 1970.
 */

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** How long deletion, and disabling for want of an answer, wait after a gap in the time. */
const HOLD = DAY;
const RECYCLE = 30 * DAY;
/** The most days that there are to answer in a review that began by itself; otherwise half the time to the next. */
const MOST_DUE = 14;

export interface Person {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly firm: number | undefined;
  readonly isManager: boolean;
  /** Of their own; "" for their company's. */
  sponsor: string;
  expireAt: number;
  status: "active" | "disabled" | "expired";
  disabled: boolean;
  /** Only on workdays from 8 to 18 o'clock, UTC. */
  hours: boolean;
  /** Why they last lost their access. */
  because: string;
}

export interface Firm {
  readonly id: number;
  readonly name: string;
  sponsor: string;
  contractEnd: number | undefined;
  ended: boolean;
  readonly most: number;
}

export interface Item {
  answer?: "keep" | "end" | "shorten" | "unanswered" | "gone";
  by: string;
  reason: string;
  until: number | undefined;
  grace: number | undefined;
}

export interface Review {
  readonly id: number;
  readonly dueAt: number;
  readonly disables: boolean;
  readonly items: Map<number, Item>;
  closed: boolean;
}

/** Everything that is known; a copy of it is what a backup has. */
export interface Book {
  readonly people: Map<number, Person>;
  readonly firms: Map<number, Firm>;
  readonly reviews: Map<number, Review>;
  /** When the service last looked at the clock, and until when it then trusts it less. */
  beatAt: number;
  holdUntil: number;
  /** When everybody was last to be asked, or when that was ordered. */
  askedAt: number;
  readonly every: number;
}

export function newBook(now: number, every: number): Book {
  const [people, firms, reviews] = [new Map(), new Map(), new Map()];
  return { people, firms, reviews, beatAt: now, holdUntil: 0, askedAt: now, every };
}

export function isOver(person: Person, now: number): boolean {
  return person.status === "expired" || person.expireAt <= now;
}

/** Whether the account may be open, and must be. */
export function isOpen(person: Person, now: number): boolean {
  return person.status === "active" && !isOver(person, now) && (!person.hours || isWorktime(now));
}

export function isWorktime(now: number): boolean {
  const date = new Date(now);
  const day = date.getUTCDay();
  return day >= 1 && day <= 5 && date.getUTCHours() >= 8 && date.getUTCHours() < 18;
}

export function sponsorOf(book: Book, person: Person): string {
  if (person.sponsor !== "") return person.sponsor;
  return person.firm === undefined ? "" : (book.firms.get(person.firm)?.sponsor ?? "");
}

export function disable(person: Person, because: string): void {
  person.disabled = true;
  person.because = because;
  if (person.status === "active") person.status = "disabled";
}

/** An end is only ever moved by somebody; whoever was over has what they had. */
export function moveEnd(person: Person, end: number, now: number): void {
  if (isOver(person, now)) person.status = person.disabled ? "disabled" : "active";
  person.expireAt = end;
}

/** Why nobody may give a user of the company that end; undefined where they may. */
export function hinders(firm: Firm | undefined, end: number, now: number): string | undefined {
  if (firm === undefined) return undefined;
  if (firm.ended) return "the company has ended";
  if (firm.contractEnd !== undefined && firm.contractEnd <= now) return "the contract is over";
  return firm.contractEnd !== undefined && end > firm.contractEnd ? "beyond the contract" : undefined;
}

/** The open items of a review for which the address answers now. */
export function askedOf(book: Book, review: Review, address: string): readonly number[] {
  return [...review.items]
    .filter(([id, item]) => {
      const person = book.people.get(id);
      return item.answer === undefined && person !== undefined && sponsorOf(book, person) === address;
    })
    .map(([id]) => id);
}

/** An answer of somebody, with what it takes away. */
export function answer(book: Book, review: Review, id: number, given: Omit<Item, "grace">, now: number): void {
  const item = review.items.get(id);
  const person = book.people.get(id);
  if (item === undefined) return;
  Object.assign(item, given);
  if (person === undefined || isOver(person, now)) return;
  const why = `${given.answer} in review ${review.id}, by ${given.by}`;
  if (given.answer === "end" && !person.disabled) disable(person, why);
  if (given.answer === "shorten" && given.until !== undefined && given.until < person.expireAt) {
    person.expireAt = given.until;
    person.because = why;
  }
}

/** Whoever is not answered for by then, in the name of `by`. */
export function settle(book: Book, review: Review, now: number, by: string, disables: boolean): void {
  for (const [id, item] of review.items) {
    if (item.answer !== undefined || (by === "system" && item.grace !== undefined && item.grace > now)) continue;
    const person = book.people.get(id);
    const isActive = person !== undefined && person.status === "active" && !isOver(person, now);
    Object.assign(item, { answer: isActive ? "unanswered" : "gone", by });
    if (isActive && disables) disable(person, `nobody answered in review ${review.id}`);
  }
}

/** The service looks at the clock. */
export function beat(book: Book, now: number): void {
  if (Math.abs(now - book.beatAt) > HOUR) book.holdUntil = now + HOLD;
  book.beatAt = now;
}

/** What becomes of everybody by a clock that goes on. Returns whether a review of everybody begins. */
export function live(book: Book, now: number): boolean {
  beat(book, now);
  const isHeld = book.holdUntil > now;
  for (const person of book.people.values()) {
    if (person.status === "expired" || person.expireAt > now) continue;
    person.status = "expired";
    person.because = "their day has come";
  }
  for (const review of book.reviews.values()) {
    if (review.closed) continue;
    for (const [id, item] of review.items) {
      if (item.answer === undefined && !book.people.has(id)) Object.assign(item, { answer: "gone", by: "system" });
    }
    if (!isHeld && review.dueAt <= now) settle(book, review, now, "system", review.disables);
    review.closed = [...review.items.values()].every((item) => item.answer !== undefined);
  }
  const begins = !isHeld && book.askedAt + book.every <= now && active(book, now).length > 0;
  for (const [id, person] of book.people) {
    if (!isHeld && person.status === "expired" && person.expireAt + RECYCLE <= now) book.people.delete(id);
  }
  return begins;
}

/** Who is asked about in a review of everybody that begins now. */
export function active(book: Book, now: number): readonly Person[] {
  return [...book.people.values()].filter((person) => person.status === "active" && !isOver(person, now));
}

export function begin(
  book: Book,
  { id, dueAt, disables }: Pick<Review, "id" | "dueAt" | "disables">,
  members: readonly Person[],
): void {
  const items = members.map(({ id }) => [id, { by: "", reason: "", until: undefined, grace: undefined }] as const);
  book.reviews.set(id, { id, dueAt, disables, closed: false, items: new Map(items) });
}

export function dueOfItself({ every }: Book, now: number): number {
  return now + Math.min(MOST_DUE, Math.max(1, Math.floor(every / DAY / 2))) * DAY;
}

/**
 * The promise itself, from the answers alone: whose review's day is over, without an answer, and who has access all the same. Nobody is, unless
 * they were given it again since, which is left to the comparison.
 */
export function unansweredWithAccess(book: Book, now: number, hasAccess: (person: Person) => boolean): string[] {
  const held = book.holdUntil > now;
  return [...book.reviews.values()].flatMap((review) => {
    if (!review.disables || review.dueAt > now || held) return [];
    return [...review.items].flatMap(([id, item]) => {
      const person = book.people.get(id);
      const waits = item.grace !== undefined && item.grace > now;
      const isOpenItem = item.answer === undefined && !waits;
      return person !== undefined && isOpenItem && hasAccess(person) ? [`${person.username}, review ${review.id}`] : [];
    });
  });
}
