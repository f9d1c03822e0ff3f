/**
 * Two operations at the same instant, held against both serial orders: the answers, what is stored, the account on the host, the
 * mails and the audit records must be what one after the other could have given.
 */

import type { Pair, PairOperation } from "./operations.ts";
import { describe, difference } from "./outcome.ts";
import type { Observed, PairAnswer, Subject, World } from "./world.ts";

export interface PairReport {
  readonly pair: string;
  readonly trials: number;
  /** How many of them ended as the first order does, and not as the second; and the other way round. */
  readonly first: number;
  readonly second: number;
  /** A text for each way of ending that there must not be, and how often there was. */
  readonly faults: ReadonlyMap<string, number>;
}

const LATER: PairAnswer = { status: 0, body: "read later" };

/** Longer than any lock is waited for. */
const HANG = 30_000;

/** Tries the pair so many times; `random` gives numbers between 0 and 1. */
export async function tryPair(world: World, pair: Pair, trials: number, random: () => number): Promise<PairReport> {
  const faults = new Map<string, number>();
  const fault = (text: string) => faults.set(text, (faults.get(text) ?? 0) + 1);
  const orders: string[][] = [];
  for (const order of [
    [0, 1],
    [1, 0],
  ] as const) {
    const ends: string[] = [];
    // A session is looked up before anything is locked, so one that its owner's lock ends may have counted still.
    for (const renews of pair.name.includes("lock by owner") ? [false, true] : [false]) {
      const { text, renewed, wrong } = await trial(world, pair, (subject) =>
        inOrder(world, pair, subject, { order, renews }),
      );
      for (const sentence of wrong) fault(`one after the other: ${sentence}`);
      ends.push(text);
      if (!renews || renewed) continue;
      ends.pop();
    }
    orders.push(ends);
  }
  const [forwards = [], backwards = []] = orders;
  const report = { pair: pair.name, trials, first: 0, second: 0, faults };
  for (let index = 0; index < trials; index++) {
    const { text, wrong } = await trial(world, pair, (subject) => atOnce(world, pair, subject, { index, random }));
    for (const sentence of wrong) fault(sentence);
    const isFirst = forwards.includes(text);
    const isSecond = backwards.includes(text);
    if (isFirst && !isSecond) report.first++;
    if (isSecond && !isFirst) report.second++;
    if (!isFirst && !isSecond) fault(difference(text, [...forwards, ...backwards]));
  }
  return report;
}

interface Done {
  readonly answers: readonly PairAnswer[];
  readonly renewed: boolean;
}

async function trial(world: World, pair: Pair, work: (subject: Subject) => Promise<Done>) {
  const subject = await world.prepare(pair.state, pair.withDrift);
  try {
    const { answers, renewed } = await work(subject);
    const observed = await world.observe(subject);
    const compared = answers.map((answer, index) => (pair.operations[index]?.answersLater ? LATER : answer));
    return { text: describe(subject, compared, observed), renewed, wrong: inconsistencies(subject, observed) };
  } finally {
    await world.forget(subject);
  }
}

async function inOrder(
  world: World,
  { operations }: Pair,
  subject: Subject,
  { order, renews }: { readonly order: readonly [number, number]; readonly renews: boolean },
): Promise<Done> {
  const answers: PairAnswer[] = [];
  let renewed = false;
  for (const [position, which] of order.entries()) {
    if (renews && position === 1) renewed = await world.renew(subject);
    const answer = await (operations[which] as PairOperation).run(world, 0, subject);
    // Two that are both kept out would agree in any order.
    if (position === 0 && answer.status === 401) throw new Error("the first of the two is not logged in");
    answers[which] = answer;
  }
  return { answers, renewed };
}

async function atOnce(
  world: World,
  { operations: [first, second] }: Pair,
  subject: Subject,
  { index, random }: { readonly index: number; readonly random: () => number },
): Promise<Done> {
  // One replica, and two; at the very same instant, and a little apart.
  const replica = index % 2 === 0 ? 0 : 1;
  const apart = index % 3 === 0 ? 0 : Math.round((random() - 0.5) * 16);
  const begin = async (wait: number, run: () => Promise<PairAnswer>) => {
    if (wait > 0) await Bun.sleep(wait);
    return await run();
  };
  const both = Promise.all([
    begin(apart, () => first.run(world, 0, subject)),
    begin(-apart, () => second.run(world, replica, subject)),
  ]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the two wait for each other")), HANG);
  });
  try {
    return { answers: await Promise.race([both, hang]), renewed: false };
  } finally {
    clearTimeout(timer);
  }
}

/** What is never so, in whatever order: sentences. */
function inconsistencies(subject: Subject, { users, keys, closings, intents, host }: Observed): string[] {
  const wrong: string[] = [];
  const [user, ...more] = users;
  if (more.length > 0) wrong.push("two users have the name");
  if (closings.length > 0) wrong.push(`something is owed: ${closings.map(({ kind }) => kind).join(", ")}`);
  if (intents.length > 0) wrong.push("an account is noted as being made");
  if (user === undefined) {
    if (host !== undefined) wrong.push("the host has an account of nobody");
    if (keys.length > 0) wrong.push("there are keys of nobody");
    return wrong;
  }
  const isLocal = user.local === true;
  if ((host !== undefined) !== isLocal) wrong.push(isLocal ? "the account is missing" : "there is an account too many");
  if (host === undefined) return wrong;
  const isActive = user.status === "active" && user.due !== true;
  if (host.open && user.status !== "active") wrong.push(`the account is open and the user is ${user.status}`);
  if (!host.open && isActive) wrong.push("the account is shut and the user is active");
  const active = keys.filter(({ status }) => status === "active").map(({ fingerprint }) => String(fingerprint));
  // One that is due may be open until the job comes by, or have been written without keys already.
  const isDue = user.due === true && host.file.every((fingerprint) => active.includes(fingerprint));
  const expected = isDue ? host.file : host.open ? active : [];
  const named = (fingerprints: readonly string[]) =>
    fingerprints.map((fingerprint) => subject.labels.get(fingerprint) ?? fingerprint).join(", ");
  if (named([...host.file].sort()) !== named([...expected].sort())) {
    wrong.push(`the file has [${named(host.file)}] and stored are [${named(expected)}]`);
  }
  return wrong;
}
