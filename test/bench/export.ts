/** GET /audit/export: records per second compared with `psql \copy` of the same columns, and the memory it takes. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { exportAudit } from "../../src/domain/exports/audit.ts";
import { createExportPlaces } from "../../src/domain/exports/places.ts";
import type { ConnectionOptions } from "../../src/store/client.ts";
import { type Cost, costOf, describeRun, openEven, percentile, residentMiB } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

const COLUMNS = "id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip";
const ROUNDS = 3;

/** Prints the best of three rounds of each, taken in turns, their ratio, and the peak of memory above idle. */
export async function benchExport({ rows }: BenchOptions): Promise<void> {
  const app = await openEven(rows);
  console.log(`\n## Exporting ${rows} audit records\n`);
  console.log(await describeRun(app));
  const places = createExportPlaces(1);
  Bun.gc(true);
  const idle = residentMiB();
  let peak = idle;
  const floors: Cost[] = [];
  const times: Cost[] = [];
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(await costOf(() => copyWithPsql(app.superuser)));
    times.push(
      await costOf(async () => {
        bytes = 0;
        for await (const chunk of await exportAudit(app.system, {}, { format: "csv", places })) {
          bytes += chunk.byteLength;
          peak = Math.max(peak, residentMiB());
        }
      }),
    );
  }
  const [floor, time] = [floors, times].map((costs) => Math.min(...costs.map((cost) => cost.time))) as [number, number];
  const [floorEach, each] = [floors, times].map((costs) =>
    (
      percentile(
        costs.map(({ processor }) => processor),
        0.5,
      ) / rows
    ).toFixed(2),
  );
  const speed = (milliseconds: number) => `${Math.round((rows / milliseconds) * 1000)} records/s`;
  console.log(`psql      ${speed(floor)}`);
  console.log(
    `export    ${speed(time)}, ${(bytes / 2 ** 20).toFixed(0)} MiB, ${((floor / time) * 100).toFixed(0)} % of psql`,
  );
  console.log(`processor ${each} us for a record, psql and its server ${floorEach} us`);
  console.log(`memory    ${(peak - idle).toFixed(0)} MiB above idle (${idle.toFixed(0)} MiB)`);
  await app.close();
}

async function copyWithPsql(connection: ConnectionOptions): Promise<void> {
  if ("url" in connection) throw new Error("the test server answers on a socket");
  const { host, port, username, database } = connection;
  const copy = `\\copy (select ${COLUMNS} from audit order by id) to /dev/null csv header`;
  const argv = ["-X", "-q", "-h", host, "-p", String(port), "-U", username, "-d", database, "-c", copy];
  const psql = spawn("psql", argv, { stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(psql, "exit");
  if (code !== 0) throw new Error(`psql (package postgresql-client) ended with ${code}`);
}
