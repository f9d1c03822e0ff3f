/** After a crash: what is stored, the host and the log agree, and what was acknowledged is there. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { type Answer, type Deed, type State, type Subject, stateOf } from "./deeds.ts";
import { accountsOf, type World } from "./world.ts";

/** A deed that was cut short, or not. */
export interface Attempt {
  readonly deed: Deed;
  readonly subject: Subject;
  readonly before: State | undefined;
  /** The last record before it. */
  readonly since: number;
  readonly answer: Answer | undefined;
}

/** Sentences about what must not be; none if all is well. */
export async function judge(world: World, attempt: Attempt): Promise<readonly string[]> {
  return [...(await judgeDeed(world, attempt)), ...(await agreement(world))];
}

/** Whether the deed is done or undone as a whole, as was answered, and in the log if it is done. */
export async function judgeDeed(
  world: World,
  { deed, subject, before, since, answer }: Attempt,
): Promise<readonly string[]> {
  const faults: string[] = [];
  const state = await stateOf(world, subject.name);
  const isUndone = JSON.stringify(state) === JSON.stringify(before);
  const isDone = deed.isDone(state, subject, before) && (deed.atStart === "is finished" || !isUndone);
  if (deed.atStart === "is finished" && !isDone) faults.push(`not finished: ${JSON.stringify(state)}`);
  if (!isDone && !isUndone) faults.push(`half done: ${JSON.stringify(before)} became ${JSON.stringify(state)}`);
  const said = answer === undefined ? "no answer" : `${answer.status} ${answer.text}`;
  if (answer !== undefined && answer.status < 300 && !isDone) faults.push(`acknowledged, and not there: ${said}`);
  if (answer !== undefined && answer.status >= 400 && deed.kind === "gives" && isDone)
    faults.push(`refused, and there all the same: ${said}`);
  const [row] = await world.sql(`
    select count(*) filter (where result = 'success')::int as successes, count(*) filter (where result = 'failed')::int as failures
    from audit where action = '${deed.action}' and id > ${since}
      and detail::json ->> 'username' = '${subject.name}'`);
  const { successes, failures } = row as { successes: number; failures: number };
  if (deed.action === "reconcile.repair" && successes !== 1) faults.push(`repaired, and ${successes} times in the log`);
  const isOwed = deed.kind === "takes" && failures > 0;
  if (isDone && successes !== 1 && !isOwed) faults.push(`done, and ${successes} times in the log`);
  if (!isDone && successes > 0 && deed.atStart !== "is not to be seen")
    faults.push(`in the log as done, and not done: ${JSON.stringify(state)}`);
  return faults;
}

/** What is still owed at the start is done in the background, beside what takes long there. */
const PATIENCE = 60_000;

/** Whether the service's own host, database and log agree as a whole, now or after some time. */
export async function agreement(world: World): Promise<readonly string[]> {
  for (const end = performance.now() + PATIENCE; ; await Bun.sleep(200)) {
    const left = await disagreement(world);
    if (left.length === 0 || performance.now() > end) return left;
  }
}

async function disagreement(world: World): Promise<readonly string[]> {
  const context = await world.context();
  const faults: string[] = [];
  for (const drift of await reconcileHost(context, world.dataDir, "check")) {
    faults.push(`the host differs: ${drift.account} ${drift.kind} ${drift.problem}`);
  }
  const [left] = await world.sql(
    "select (select count(*)::int from closings) as closings, (select count(*)::int from account_intents) as intents",
  );
  if (Object.values(left ?? {}).some((count) => count !== 0)) faults.push(`notes are left: ${JSON.stringify(left)}`);
  const { fault } = await verifyAudit(context);
  if (fault !== undefined) faults.push(`the log is not whole: ${fault.message}`);
  return [...faults, ...(world.hostMode === "direct" ? await strays(world) : [])];
}

/** What is on the host and belongs to nobody. */
export async function strays(world: World): Promise<readonly string[]> {
  const { sql, base, dataDir } = world;
  const stored = new Set((await sql("select 'ext_' || username as name from users")).map(({ name }) => String(name)));
  const homes = readdirSync(base).filter((name) => name !== ".uam-trash");
  const trash = existsSync(join(base, ".uam-trash")) ? readdirSync(join(base, ".uam-trash")) : [];
  const drafts = homes.flatMap((home) => {
    const directory = join(base, home, ".ssh");
    return existsSync(directory) ? readdirSync(directory).filter((name) => name.startsWith(".uam.")) : [];
  });
  return [
    ...accountsOf(world)
      .filter((name) => !stored.has(name))
      .map((name) => `the account ${name} is nobody's`),
    ...homes.filter((name) => !stored.has(name)).map((name) => `the home ${name} is nobody's`),
    ...trash.map((name) => `${name} is left in the trash`),
    ...drafts.map((name) => `a draft is left beside a key file: ${name}`),
    // A draft that a crash left is no entry, and names nobody else's.
    ...readdirSync(dataDir)
      .filter((name) => /^lock-.*\.json$/.test(name))
      .map((name) => `${name} is left in the data directory`),
  ];
}
