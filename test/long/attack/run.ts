/**
 * `bun run test:long attack [--only NAME] [--requests N] [--seed N]`: other people's attacks on the built
 * program. Exit code 1 if one of them finds anything.
 */

import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { BINARY } from "../../support/service.ts";
import { csv, SPREADSHEET } from "./csv.ts";
import { fuzz } from "./fuzz.ts";
import { smuggling } from "./proxies.ts";
import { provesItself, sqlmap } from "./sqlmap.ts";
import { startTarget, type Target } from "./target.ts";
import { testssl } from "./testssl.ts";
import { timing } from "./timing.ts";
import { requirePrograms } from "./tools.ts";
import { wapiti } from "./wapiti.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    requests: { type: "string", default: "50000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
  },
});

if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: run "bun run build" first`);
requirePrograms({
  "/usr/bin/sqlmap": "sqlmap",
  "/usr/bin/wapiti": "wapiti",
  "/usr/bin/testssl": "testssl.sh",
  "/usr/sbin/nginx": "nginx-light",
  "/usr/sbin/haproxy": "haproxy",
  [SPREADSHEET]: "libreoffice-calc-nogui",
});

const tell = (line: string): void => console.log(`  ${line}`);

/** What each attack found, a line each. */
const ATTACKS: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  testssl: () => testssl(tell),
  smuggling: () => on((target) => smuggling(target, tell), { UAM_LOG_LEVEL: "debug" }),
  wapiti: () => on((target) => wapiti(target, tell)),
  sqlmap: async () => {
    await provesItself();
    return await on((target) => sqlmap(target, tell));
  },
  timing: () => timing(tell, Number(values.seed)),
  csv: () => csv(tell),
  fuzz: () => on((target) => fuzzed(target)),
};

/** A target of its own for each: what one did to it does not hold up the next. */
async function on(
  attack: (target: Target) => Promise<readonly string[]>,
  variables: Record<string, string> = {},
): Promise<readonly string[]> {
  const target = await startTarget(variables);
  try {
    return await attack(target);
  } finally {
    await target.stop();
  }
}

async function fuzzed(target: Target): Promise<readonly string[]> {
  const { requests, statuses, slowest, faults } = await fuzz(target, {
    count: Number(values.requests),
    seed: Number(values.seed),
  });
  const counts = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status}: ${count}`);
  tell(
    `${requests} requests, seed ${values.seed}; ${counts.join(", ")}; slowest ${slowest[0].toFixed(0)} ms: ${slowest[1]}`,
  );
  return faults;
}

let found = 0;
for (const [name, attack] of Object.entries(ATTACKS)) {
  if (values.only !== undefined && values.only !== name) continue;
  const begin = performance.now();
  console.log(name);
  const faults = await attack();
  found += faults.length;
  for (const fault of faults) tell(`FOUND ${fault}`);
  tell(`${faults.length} found (${((performance.now() - begin) / 1000).toFixed(0)} s)`);
}
process.exit(found === 0 ? 0 : 1);
