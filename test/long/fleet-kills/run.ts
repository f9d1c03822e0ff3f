/**
 * `bun run test:long fleet-kills [--rounds N] [--minutes N] [--replicas N] [--agents N] [--seed N]
 * [--service-from DIRECTORY] [--agents-from DIRECTORY]`: a PostgreSQL primary with a synchronous standby, replicas of the service, agents on hosts that are files, and users and keys that come and go. Each round kills agents, a
 * replica or the primary, which is failed over, or restores an older backup. Nothing that was closed may be open again on any host, every
 * divergence must be noted, and everything that was acknowledged must be there. The directories have the source of another version.
 */

import { parseArgs } from "node:util";
import { createRandom } from "../closings/random.ts";
import { openScene } from "./scene.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "300" },
    minutes: { type: "string", default: "60" },
    replicas: { type: "string", default: "2" },
    agents: { type: "string", default: "5" },
    "service-from": { type: "string" },
    "agents-from": { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
/** Rounds after which everything is compared in any case. */
const COMPARE = 20;

const random = createRandom(Number(values.seed));
const began = performance.now();
const minutes = () => (performance.now() - began) / 60_000;
say(`seed ${values.seed}`);
const scene = await openScene({
  replicas: Number(values.replicas),
  agents: Number(values.agents),
  random,
  serviceFrom: values["service-from"],
  agentsFrom: values["agents-from"],
  say,
});
let round = 0;
try {
  await Bun.sleep(3000);
  while (round < Number(values.rounds) && minutes() < Number(values.minutes)) {
    round++;
    const drawn = random.below(100);
    if (drawn < 74) await scene.killAgents();
    else if (drawn < 92) await scene.killReplica();
    else if (drawn < 96) await scene.losePrimary();
    else if (drawn < 98) scene.backUp();
    else await scene.restore();
    await Bun.sleep(random.below(600));
    if (round % COMPARE === 0) {
      await scene.check();
      say(`${round} rounds in ${minutes().toFixed(1)} minutes: ${JSON.stringify(scene.counts)}`);
    }
  }
  await scene.check();
} finally {
  say(scene.summary());
  await scene.close();
}
const { faults } = scene;
say(`${round} rounds in ${minutes().toFixed(1)} minutes; faults: ${faults.length}`);
for (const line of faults) say(`FAULT: ${line}`);
process.exit(faults.length > 0 ? 1 : 0);

function say(line: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
}
