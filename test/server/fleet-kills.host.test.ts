/** The short form of `bun run test:long fleet-kills`: each blow a few times, and an older backup once. */

import { expect, test } from "bun:test";
import { createRandom } from "../long/closings/random.ts";
import { openScene } from "../long/fleet-kills/scene.ts";

test.if(process.env.UAM_TEST_HOST === "1")(
  "killed agents, replicas and a lost primary, and an older backup: what was closed stays closed, and what was told is there",
  async () => {
    const said: string[] = [];
    const random = createRandom(1);
    const scene = await openScene({ replicas: 2, agents: 3, random, say: (line) => said.push(line) });
    await Bun.sleep(2000);
    scene.backUp();
    for (const blow of ["killAgents", "killReplica", "killAgents", "losePrimary", "killAgents", "restore"] as const) {
      await Bun.sleep(random.below(800));
      await scene[blow]();
    }
    await scene.killAgents();
    await scene.check();
    console.log(scene.summary());
    await scene.close();
    expect([scene.faults, said]).toEqual([[], []]);
    // All of them knew what the restore took back.
    expect(scene.counts.divergences).toBe(3);
  },
  300_000,
);
