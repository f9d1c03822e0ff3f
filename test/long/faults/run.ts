/**
 * `bun run test:long faults [--only NAME]`: what the service depends on fails, each part in its turn, under the built program. As
 * root, because it mounts small file systems; it makes no accounts.
 */

import { parseArgs } from "node:util";
import { leaving, noDescriptor, silent, slow } from "./clients.ts";
import { cutAnywhere, cutBackends, frozenServer, fullDisk, killedServer } from "./database.ts";
import { backupToFullDisk, logOnFullDisk, mailOnFullDisk, readOnlyData } from "./disks.ts";
import { clockSet, deafReceivers, noProcess } from "./surroundings.ts";

const FAULTS: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  "cut-anywhere": cutAnywhere,
  "cut-backends": cutBackends,
  "killed-server": () => killedServer(),
  "frozen-server": frozenServer,
  "full-disk": fullDisk,
  "read-only-data": readOnlyData,
  "log-on-full-disk": logOnFullDisk,
  "mail-on-full-disk": mailOnFullDisk,
  "backup-to-full-disk": backupToFullDisk,
  "silent-connections": silent,
  "slow-bodies": slow,
  "leaving-clients": leaving,
  "no-descriptor": noDescriptor,
  "no-process": noProcess,
  "deaf-receivers": deafReceivers,
  "clock-set": clockSet,
};

const { values } = parseArgs({ options: { only: { type: "string" } } });
const names = values.only === undefined ? Object.keys(FAULTS) : [values.only];
let failed = false;
for (const name of names) {
  const run = FAULTS[name];
  if (run === undefined) throw new Error(`There is no ${name}; there are ${Object.keys(FAULTS).join(", ")}`);
  const began = performance.now();
  const faults = await run().catch((error: Error) => [`it could not be carried out: ${error.stack || error}`]);
  failed ||= faults.length > 0;
  console.log(
    `${faults.length === 0 ? "ok  " : "FAIL"} ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`,
  );
  for (const fault of faults) console.log(`     ${fault}`);
}
process.exit(failed ? 1 : 0);
