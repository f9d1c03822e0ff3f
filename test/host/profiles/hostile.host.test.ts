/** An account's owner who tries to do more than their profile says: never, in as many ways as `UAM_TEST_TRIES` says. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { renderBlocks, renderUnprofiled } from "../../../src/host/profiles/sshd-blocks.ts";
import { describeOnHost } from "../../support/host-account.ts";
import { TRIES, type Try } from "./hostile/tries.ts";
import { openWorld, profilesOf, type World } from "./hostile/world.ts";
import { PROGRAM, prepareLab } from "./trial/lab.ts";

const SEED = Number(process.env.UAM_TEST_SEED ?? 32);
/** All of them take minutes: `bun run test:long profiles`. */
const COUNT = Number(process.env.UAM_TEST_TRIES ?? 40);
/** Most of it is waiting. */
const AT_ONCE = 4;

test("there are at least 200 ways", () => {
  expect(TRIES.length).toBeGreaterThanOrEqual(200);
  expect(new Set(TRIES.map(({ name }) => name)).size).toBe(TRIES.length);
});

describeOnHost("a hostile owner", () => {
  const lab = prepareLab(
    (directory) => profilesOf(directory, PROGRAM),
    (profiles) => `${renderBlocks(profiles.map((profile) => ({ profile, isShut: false })))}${renderUnprofiled()}`,
  );
  let world: World;
  beforeAll(async () => {
    world = await openWorld(lab());
  });
  afterAll(() => world?.close());

  test(`gets out of no profile in ${COUNT} tries, seed ${SEED}`, async () => {
    const drawn = shuffled(TRIES, SEED).slice(0, COUNT);
    const found: string[] = [];
    for (let begin = 0; begin < drawn.length; begin += AT_ONCE) {
      const some = drawn.slice(begin, begin + AT_ONCE);
      const heard = await Promise.all(some.map(({ run }) => run(world)));
      for (const [index, text] of heard.entries()) {
        const evidence = world.evidenceIn(text);
        if (evidence.length > 0) found.push(`${some[index]?.name}: ${evidence.join(", ")}`);
      }
    }
    expect(found).toEqual([]);
  }, 1_800_000);

  test("would be found out: an account that may do everything leaves every sort of evidence", async () => {
    const free = await openWorld(lab(), true);
    const names = [
      ...["command: a command, wrapped in way 0", "forward: a file at path 0", "sftp: a connection to 127.0.0.1"],
      ...["read: the host listens, way 0", "sftp: files, way 0"],
    ];
    const evidence: string[] = [];
    for (const name of names) {
      const one = TRIES.find((each) => each.name === name);
      evidence.push(...free.evidenceIn((await one?.run(free)) ?? ""));
    }
    free.close();
    for (const sort of ["a shell ran", "was read", "a connection was made", "the host listens", "a file was left"])
      expect([sort, evidence.some((each) => each.includes(sort))]).toEqual([sort, true]);
  });
});

function shuffled(all: readonly Try[], seed: number): readonly Try[] {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return all
    .map((item) => ({ item, at: next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
