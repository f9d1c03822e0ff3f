/** `bun run bench [NAME…] [--rows N] [--small N] [--calls N]`: all benchmarks, or those named. 5M: `--rows 5000000`. */

import { stopTestServer } from "../support/database.ts";
import { benchAppend } from "./append.ts";
import { benchAuditPages } from "./audit-pages.ts";
import { benchAuditVerify } from "./audit-verify.ts";
import { benchBackup } from "./backup.ts";
import { readOptions } from "./bench.ts";
import { benchEnumeration } from "./enumeration.ts";
import { benchExport } from "./export.ts";
import { benchFlood } from "./flood.ts";
import { benchKeyChanges } from "./key-changes.ts";
import { benchReconcile } from "./reconcile.ts";
import { benchRequests } from "./requests.ts";
import { benchStart } from "./start.ts";

const BENCHMARKS = {
  requests: benchRequests,
  "key-changes": benchKeyChanges,
  start: benchStart,
  flood: benchFlood,
  enumeration: benchEnumeration,
  reconcile: benchReconcile,
  append: benchAppend,
  "audit-pages": benchAuditPages,
  "audit-verify": benchAuditVerify,
  export: benchExport,
  backup: benchBackup,
} as const;

const options = readOptions();
for (const name of options.names) {
  if (!(name in BENCHMARKS))
    throw new Error(`there is no benchmark ${name}; there are ${Object.keys(BENCHMARKS).join(", ")}`);
}
try {
  for (const [name, run] of Object.entries(BENCHMARKS)) {
    if (options.names.length === 0 || options.names.includes(name)) await run(options);
  }
} finally {
  await stopTestServer();
}
