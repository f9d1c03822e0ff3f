/**
 * `bun run test:long history [--minutes N] [--hosts N] [--replicas N] [--seed N] [--lease SECONDS] [--file FILE]`: clients, agents and an
 * administrator use the real service, a nemesis harms all of it, logins are tried on every host, and everything is written down; then a checker
 * that knows nothing of the program judges it by docs/history-model.md. As root: each host has a small disk that can be filled.
 */

import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { createRandom } from "../closings/random.ts";
import { openHistory } from "./driver/scene.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    hosts: { type: "string", default: "4" },
    replicas: { type: "string", default: "2" },
    makers: { type: "string", default: "4" },
    lease: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    file: { type: "string" },
  },
});
/** Blows between two calms. */
const BETWEEN = 25;

const seed = Number(values.seed);
const file = values.file ?? join(process.cwd(), `history-${seed}.jsonl`);
const random = createRandom(seed);
const began = performance.now();
const minutes = () => (performance.now() - began) / 60_000;
say(`seed ${seed}, to ${file}`);
const scene = await openHistory({
  ...{
    file,
    random,
    seed,
    hosts: Number(values.hosts),
    replicas: Number(values.replicas),
    makers: Number(values.makers),
  },
  ...{ lease: Number(values.lease) * 1000, pace: 120, hours: true, say },
});
try {
  await scene.begun();
  for (let blow = 1; minutes() < Number(values.minutes); blow++) {
    const drawn = random.below(100);
    if (drawn < 2) await scene.loseLeader();
    else if (drawn < 5) await scene.backUp();
    else if (drawn < 7) await scene.restore();
    else await scene.strike();
    await Bun.sleep(random.below(1500));
    if (blow % BETWEEN === 0) {
      await scene.calm();
      say(`${blow} blows in ${minutes().toFixed(1)} minutes`);
    }
  }
  await scene.calm();
} finally {
  say(scene.summary());
  await scene.close();
}
const checker = join(import.meta.dir, "checker/run.ts");
process.exit(Bun.spawnSync([process.execPath, checker, file], { stdio: ["ignore", "inherit", "inherit"] }).exitCode);

function say(line: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
}
