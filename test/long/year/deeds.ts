/** What administrators, companies and time do to a year, drawn at random; each deed is also done to the oracle's book. */

import { createCompany } from "../../../src/domain/companies/companies.ts";
import { endCompany, resumeCompany } from "../../../src/domain/companies/ending.ts";
import { endColleague } from "../../../src/domain/companies/managers.ts";
import { updateCompany } from "../../../src/domain/companies/update.ts";
import { extendUser } from "../../../src/domain/users/extend.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, deleteUser, disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { administratorsAnswer, closeByHand, moveSponsors, replaceSponsor, reviewSome, useLinks } from "./answers.ts";
import { disable, type Firm, hinders, isOver, moveEnd, type Person } from "./oracle.ts";
import { addressOf, attempt, count, DAY, find, HOUR, nowOf, pick, STEP, told, type Year } from "./scene.ts";

const WORKTIME = {
  zone: "UTC",
  windows: [{ days: ["mon", "tue", "wed", "thu", "fri"], from: "08:00", to: "18:00" }],
} as const;
const RECYCLE = 30 * DAY;

/** How often on a day, by the number of users, or whatever their number. */
const DEEDS: readonly {
  readonly each?: number;
  readonly all?: number;
  readonly work: (year: Year) => Promise<void>;
}[] = [
  { each: 1 / 40, work: join },
  { each: 0.014, work: extend },
  { each: 0.002, work: disableSome },
  { each: 0.012, work: enableSome },
  { each: 0.0006, work: deleteSome },
  { each: 0.002, work: changeHours },
  { each: 0.001, work: managerEnds },
  { each: 0.02, work: administratorsAnswer },
  { each: 0.002, work: replaceSponsor },
  { all: 0.05, work: moveSponsors },
  { all: 0.06, work: reviewSome },
  { all: 0.04, work: closeByHand },
  { all: 0.03, work: endFirm },
  { all: 0.15, work: resumeFirm },
  { all: 0.04, work: moveContract },
  { all: 0.15, work: bounce },
  { all: 0.4, work: shake },
  { all: 0.3, work: restart },
  { all: 0.05, work: jump },
  { all: 0.5, work: backUp },
  { all: 0.03, work: setBack },
];

/** What happens within some hours. */
export async function doSomething(year: Year): Promise<void> {
  year.links.push(...year.world.links.splice(0).map((link) => ({ ...link, isDead: false, used: new Set<number>() })));
  await useLinks(year);
  for (const { each, all, work } of DEEDS) {
    const expected = ((all ?? (each ?? 0) * year.size.people) * STEP) / 24;
    for (let left = expected; left > 0; left--) if (year.random() < left) await work(year);
  }
}

/** Companies, and the first users. */
export async function settleIn(year: Year): Promise<void> {
  const { book, size, world } = year;
  for (let n = 0; n < size.firms; n++) {
    const contractEnd = n % 2 === 0 ? undefined : nowOf(year) + Math.ceil((0.4 + year.random()) * size.days) * DAY;
    const most = Math.ceil((size.people / size.firms) * (0.6 + year.random()));
    const [name, sponsor] = [`Firm ${n}`, addressOf(year)];
    const end = contractEnd === undefined ? null : new Date(contractEnd);
    const { row } = await createCompany(world.operator(), {
      ...{ name, contractEnd: end, maxUsers: most, sponsorEmail: sponsor },
    });
    book.firms.set(row.id, { id: row.id, name, sponsor, contractEnd, ended: false, most });
  }
  while (book.people.size < size.people * 0.6) await join(year);
}

async function join(year: Year): Promise<void> {
  const { book, size, world, random } = year;
  if (book.people.size >= size.people) return;
  const now = nowOf(year);
  const firm = random() < 0.7 ? pick(year, [...book.firms.values()]) : undefined;
  const colleagues = [...book.people.values()].filter((person) => person.firm === firm?.id);
  const isManager = firm !== undefined && !colleagues.some((person) => person.isManager && !isOver(person, now));
  const sponsor = random() < 0.6 ? addressOf(year) : "";
  const hours = !isManager && random() < 0.1;
  const ttlDays = 10 + Math.floor(random() * 110);
  const expireAt = now + ttlDays * DAY;
  const username = `p-${++year.joined}`;
  const email = `${username}@example.org`;
  const isFull = firm !== undefined && colleagues.length >= firm.most;
  const expected = isFull ? "the company is full" : hinders(firm, expireAt, now);
  const given = { username, email, ttlDays, companyId: firm?.id ?? null, manager: isManager, sponsorEmail: sponsor };
  const made = await attempt(year, `create ${username}`, () =>
    createUser(world.operator(), { ...given, hours: hours ? WORKTIME : null }),
  );
  if (!told(year, { what: `create ${username}`, made, expected })) return;
  const id = "done" in made ? made.done.id : 0;
  const state = { expireAt, status: "active", disabled: false, hours, because: "new" } as const;
  book.people.set(id, { id, username, email, firm: firm?.id, isManager, sponsor, ...state });
}

/** Takes access away. A host that fails owes it: it is stored all the same. */
async function take(year: Year, what: string, work: () => Promise<unknown>): Promise<boolean> {
  const made = await attempt(year, what, work);
  const isOwed = "refused" in made && year.isShaky && made.refused.startsWith("internal");
  if ("refused" in made && !isOwed) find(year, `${what} was refused: ${made.refused}`);
  count(year, what.split(" ")[0] ?? "");
  return "done" in made || isOwed;
}

function somebody(year: Year, which: (person: Person) => boolean): Person | undefined {
  return pick(year, [...year.book.people.values()].filter(which));
}

function firmOf({ book }: Year, person: Person): Firm | undefined {
  return person.firm === undefined ? undefined : book.firms.get(person.firm);
}

/** Of some the one whose day is nearest. */
async function extend(year: Year): Promise<void> {
  const now = nowOf(year);
  const some = [1, 2, 3, 4].map(() => somebody(year, () => true)).filter((person) => person !== undefined);
  const person = some.sort((one, other) => one.expireAt - other.expireAt)[0];
  if (person === undefined) return;
  const days = 10 + Math.floor(year.random() * 80);
  const end = Math.max(person.expireAt, now) + days * DAY;
  const isTooLate = isOver(person, now) && person.expireAt + RECYCLE <= now;
  const expected = isTooLate ? "it is about to be removed" : hinders(firmOf(year, person), end, now);
  const what = `extend ${person.username}`;
  const made = await attempt(year, what, () => extendUser(year.world.operator(), person.id, days));
  if (told(year, { what, made, expected })) moveEnd(person, end, now);
}

async function disableSome(year: Year): Promise<void> {
  const person = somebody(year, (one) => one.status === "active" && !isOver(one, nowOf(year)));
  if (person === undefined) return;
  if (await take(year, `disable ${person.username}`, () => disableUser(year.world.operator(), person.id)))
    disable(person, "an operator");
}

async function enableSome(year: Year): Promise<void> {
  const person = somebody(year, (one) => one.disabled && !isOver(one, nowOf(year)));
  if (person === undefined) return;
  const expected = firmOf(year, person)?.ended === true ? "the company has ended" : undefined;
  const what = `enable ${person.username}`;
  const made = await attempt(year, what, () => enableUser(year.world.operator(), person.id));
  if (told(year, { what, made, expected })) Object.assign(person, { disabled: false, status: "active" });
}

async function deleteSome(year: Year): Promise<void> {
  const person = somebody(year, () => true);
  if (person === undefined || year.isShaky) return;
  if (await take(year, `delete ${person.username}`, () => deleteUser(year.world.operator(), person.id)))
    year.book.people.delete(person.id);
}

async function changeHours(year: Year): Promise<void> {
  const person = somebody(year, (one) => !one.isManager && !isOver(one, nowOf(year)));
  if (person === undefined || year.isShaky) return;
  const hours = person.hours ? null : WORKTIME;
  const made = await attempt(year, "hours", () => updateUser(year.world.operator(), person.id, { hours }));
  if (told(year, { what: `hours of ${person.username}`, made, expected: undefined })) person.hours = !person.hours;
}

/** A manager ends somebody, also of another company, which is refused. */
async function managerEnds(year: Year): Promise<void> {
  const now = nowOf(year);
  const manager = somebody(year, (one) => one.isManager);
  const person = somebody(year, (one) => year.random() < 0.1 || one.firm === manager?.firm);
  if (manager === undefined || person === undefined || manager === person) return;
  const isAble = manager.status === "active" && !isOver(manager, now) && manager.firm === person.firm;
  const context = { ...year.world.operator(), actor: { type: "user", name: manager.username, ip: "" } } as const;
  const what = `manager ${manager.username} ends ${person.username}`;
  const work = () => endColleague(context, manager.id, person.id);
  if (!isAble) return void told(year, { what, made: await attempt(year, what, work), expected: "they may not" });
  if (!(await take(year, what, work))) return;
  if (!person.disabled && person.status !== "expired") disable(person, `manager ${manager.username}`);
}

async function endFirm(year: Year): Promise<void> {
  const firm = pick(
    year,
    [...year.book.firms.values()].filter(({ ended }) => !ended),
  );
  if (firm === undefined || !(await take(year, "ended-company", () => endCompany(year.world.operator(), firm.id))))
    return;
  firm.ended = true;
  for (const person of year.book.people.values()) {
    if (person.firm === firm.id && !person.disabled && person.status !== "expired")
      disable(person, `end of ${firm.name}`);
  }
}

async function resumeFirm(year: Year): Promise<void> {
  const firm = pick(
    year,
    [...year.book.firms.values()].filter(({ ended }) => ended),
  );
  if (firm === undefined || year.isShaky) return;
  const made = await attempt(year, "resume", () => resumeCompany(year.world.operator(), firm.id));
  if (told(year, { what: `resume ${firm.name}`, made, expected: undefined })) firm.ended = false;
}

/** Earlier takes from its users what lies beyond; later gives nobody anything. */
async function moveContract(year: Year): Promise<void> {
  const now = nowOf(year);
  const firm = pick(year, [...year.book.firms.values()]);
  if (firm === undefined || year.isShaky) return;
  const end = now + Math.ceil(5 + year.random() * 200) * DAY;
  const change = { contractEnd: new Date(end) };
  if (!(await take(year, "contract-moved", () => updateCompany(year.world.operator(), firm.id, change)))) return;
  firm.contractEnd = end;
  for (const person of year.book.people.values()) {
    if (person.firm !== firm.id || isOver(person, now) || person.expireAt <= end) continue;
    Object.assign(person, { expireAt: end, because: `the contract of ${firm.name}` });
  }
}

async function bounce(year: Year): Promise<void> {
  const { bouncing } = year.world;
  const address = addressOf(year);
  if (!bouncing.delete(address)) bouncing.add(address);
  count(year, "mailboxes that end or begin");
}

async function shake(year: Year): Promise<void> {
  year.isShaky = true;
  year.world.host.failing.add("shutAccount");
  count(year, "hours with a host that fails");
}

async function restart(year: Year): Promise<void> {
  await year.world.restart();
  count(year, "restarts");
}

/** The service was stopped, or somebody set the clock. */
async function jump(year: Year): Promise<void> {
  const hours = year.random() < 0.7 ? 2 + Math.floor(year.random() * 60) : -2 - Math.floor(year.random() * 20);
  year.world.clock.advance(hours * HOUR);
  count(year, hours > 0 ? "clock forward" : "clock back");
}

async function backUp(year: Year): Promise<void> {
  if (year.isShaky) return;
  await year.world.backUp();
  year.saved = structuredClone(year.book);
  count(year, "backups");
}

/** As docs/backup.md has it: accounts that the host lacks are of users who are deleted, and who is not stored has no account. */
async function setBack(year: Year): Promise<void> {
  const { saved, world } = year;
  if (saved === undefined || year.isShaky) return;
  await world.setBack();
  year.book = structuredClone(saved);
  year.book.holdUntil = nowOf(year) + DAY;
  for (const link of year.links) link.isDead = true;
  const known = new Set<string>();
  for (const { id, username } of [...year.book.people.values()]) {
    known.add(`ext_${username}`);
    if (world.host.accounts.has(`ext_${username}`)) continue;
    await take(year, `delete-again ${username}`, () => deleteUser(world.operator(), id));
    year.book.people.delete(id);
  }
  for (const name of [...world.host.accounts.keys()].filter((name) => !known.has(name))) {
    world.host.accounts.delete(name);
    count(year, "accounts that a restored database does not know");
  }
  count(year, "restores");
}
