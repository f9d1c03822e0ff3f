/** The cost of an audit record: an audited change compared with the same change without a record. */

import { sql } from "drizzle-orm";
import { audited } from "../../src/domain/operation/audited.ts";
import { describeRun, openFilled, percentile, timed } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

const ENTRY = { action: "user.update", resourceType: "user", resourceId: "1", subjectId: 1 } as const;

/** Prints the latency of one at a time and the rate of eight at once, with and without a record. */
export async function benchAppend({ small, calls }: BenchOptions): Promise<void> {
  const app = await openFilled(small);
  console.log(`\n## Appending to a log of ${small} records, ${calls} changes\n`);
  console.log(await describeRun(app));
  const change = sql`insert into settings (key, value, updated_at) values ('bench', 1, now()) on conflict (key) do nothing`;
  const plain = () => app.db.transaction(async (tx) => void (await tx.execute(change)));
  const recorded = () => audited(app.system, ENTRY, async (op) => void (await op.tx.execute(change)));
  const times: { plain: number[]; recorded: number[] } = { plain: [], recorded: [] };
  for (let n = 0; n < calls; n++) {
    times.plain.push(await timed(plain));
    times.recorded.push(await timed(recorded));
  }
  const [without, with_] = [percentile(times.plain, 0.5), percentile(times.recorded, 0.5)];
  console.log(
    `one       p50 ${without.toFixed(2)} ms plain, ${with_.toFixed(2)} ms recorded, x ${(with_ / without).toFixed(2)}`,
  );
  for (const [name, work] of [
    ["plain", plain],
    ["recorded", recorded],
  ] as const) {
    const time = await timed(async () => {
      const lanes = Array.from({ length: 8 }, async () => {
        for (let n = 0; n < calls; n++) await work();
      });
      await Promise.all(lanes);
    });
    console.log(`eight     ${Math.round((8 * calls * 1000) / time)} changes/s ${name}`);
  }
  await app.close();
}
