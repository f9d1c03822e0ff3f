/** Many deeds at once, and at any moment of them somebody dies. */

import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { createRandom } from "../closings/random.ts";
import { type Answer, DEEDS, type Deed, stateOf } from "./deeds.ts";
import { type Attempt, agreement, judgeDeed } from "./verdict.ts";
import { lastRecord, type Round, startAgain, until, VICTIMS, type Victim } from "./walk.ts";
import type { World } from "./world.ts";

/** Deeds under way at once. */
const AT_ONCE = 6;
/** The latest moment of a death, in milliseconds: by then most deeds are done on a machine that has nothing else to do. */
const LATEST = 600;

/** One death under load; the seed says which deeds, who dies, and when. */
export async function runStorm(world: World, seed: number): Promise<Round & { readonly victim: Victim }> {
  const random = createRandom(seed);
  await world.start();
  const context = await world.context();
  const subjects: (Omit<Attempt, "answer" | "since"> & { readonly name: string })[] = [];
  for (let index = 0; index < AT_ONCE; index++) {
    const name = random.pick(Object.keys(DEEDS).filter((known) => known !== "uam lock"));
    const deed = DEEDS[name] as Deed;
    const subject = await deed.prepare(context, world);
    subjects.push({ name, deed, subject, before: await stateOf(world, subject.name) });
  }
  const victim = random.pick(VICTIMS);
  const wait = random.below(random.pick([50, 200, LATEST]));
  const since = await lastRecord(world);
  const postmaster = world.postmaster();
  const acting = subjects.map(async ({ deed, subject, before }): Promise<Attempt> => {
    const answer: Answer | undefined = await deed.act(world, subject);
    return { deed, subject, before, since, answer };
  });
  await Bun.sleep(wait);
  if (victim !== "service") process.kill(postmaster, "SIGKILL");
  if (victim !== "postgres") await world.kill();
  const attempts = await Promise.all(acting);
  const faults: string[] = [];
  const { start, faults: late } = await startAgain(world);
  faults.push(...late);
  const again = await (victim === "postgres" ? world.contextAgain() : world.context());
  await until(() => world.ready());
  if (victim === "postgres") await reconcileHost(again, world.dataDir, "repair at once");
  for (const [index, attempt] of attempts.entries()) {
    const wrong = await judgeDeed(world, attempt);
    faults.push(...wrong.map((fault) => `${subjects[index]?.name}: ${fault}`));
  }
  faults.push(...(await agreement(world)));
  const name = `storm ${seed}; ${subjects.map(({ name }) => name).join(", ")}; ${victim} after ${wait} ms`;
  return { name, reached: true, faults, start, victim };
}
