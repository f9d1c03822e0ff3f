/**
 * `bun run test:long managers [--requests N] [--seed N]`: 10,000 requests of a company's manager, drawn at random over every route of the
 * document. What reads or changes another company, or gives anything, is printed.
 */

import process from "node:process";
import { parseArgs } from "node:util";
import { createTestApp } from "../../support/app.ts";
import { stopTestServer } from "../../support/database.ts";
import { createManagersWorld } from "../../support/managers-world.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
/** Requests in one world: later ones find less and less that is open. */
const IN_ONE = 500;

const [requests, first] = [Number(values.requests), Number(values.seed)];
const succeeded = new Set<string>();
const found: string[] = [];
for (let sent = 0, seed = first; sent < requests; sent += IN_ONE, seed++) {
  const app = await createTestApp();
  try {
    const world = await createManagersWorld(app);
    for (const route of (await world.tryRequests(Math.min(IN_ONE, requests - sent), seed)).succeeded)
      succeeded.add(route);
  } catch (error) {
    found.push(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
  }
  await app.close();
}
for (const one of found) console.log(one);
console.log(`${requests} requests from seed ${first}: ${found.length} findings; answered with success:`);
console.log([...succeeded].sort().join("\n"));
await stopTestServer();
process.exit(found.length === 0 ? 0 : 1);
