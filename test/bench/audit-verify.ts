/** `uam audit verify`: records per second compared with only reading the same records, and the memory it takes. */

import { sql } from "drizzle-orm";
import { verifyAudit } from "../../src/domain/audit/verify.ts";
import { describeRun, openFilled, residentMiB, timed } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

const BLOCK = 5000;

/** Prints both speeds and their ratio; throws if the log that was just made does not verify. */
export async function benchAuditVerify({ rows }: BenchOptions): Promise<void> {
  const app = await openFilled(rows);
  console.log(`\n## Verifying ${rows} audit records\n`);
  console.log(await describeRun(app));
  const read = await timed(async () => {
    for (let after = 0; after < rows; after += BLOCK) {
      await app.db.execute(sql`select * from audit where id > ${after} and id <= ${after + BLOCK}`);
    }
  });
  Bun.gc(true);
  const idle = residentMiB();
  let peak = idle;
  const watch = setInterval(() => {
    peak = Math.max(peak, residentMiB());
  }, 20);
  const verify = await timed(async () => {
    const { fault } = await verifyAudit(app.services);
    if (fault !== undefined) throw new Error(fault.message);
  });
  clearInterval(watch);
  const speed = (milliseconds: number) => `${Math.round((rows / milliseconds) * 1000)} records/s`;
  console.log(`reading   ${speed(read)}`);
  console.log(`verifying ${speed(verify)}, ${((read / verify) * 100).toFixed(0)} % of reading`);
  console.log(`memory    ${(peak - idle).toFixed(0)} MiB above idle (${idle.toFixed(0)} MiB)`);
  await app.close();
}
