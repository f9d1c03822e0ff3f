/** Backup and restore of an audit log, compared with COPY alone in the same run. */

import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { writeBackup } from "../../src/store/backup/backup.ts";
import { writeFileWhole } from "../../src/store/backup/backup-file.ts";
import { verifyBackup } from "../../src/store/backup/backup-reader.ts";
import { withCopyClient } from "../../src/store/backup/copy-client.ts";
import { restoreBackup } from "../../src/store/backup/restore.ts";
import { createTestDatabase } from "../support/database.ts";
import { costOf, describeMachine, residentMiB } from "./bench.ts";
import { fillAudit } from "./fill-audit.ts";
import type { BenchOptions } from "./options.ts";

/** Whom the records name. */
const USERS = 2000;

/** Prints speed and peak memory of each step, and its time relative to the floor. */
export async function benchBackup({ rows }: BenchOptions): Promise<void> {
  console.log(`\n## Backup and restore of ${rows} audit records\n\n${describeMachine()}`);
  const { signal } = new AbortController();
  const directory = mkdtempSync(join(tmpdir(), "uam-bench-backup-"));
  const file = join(directory, "backup");
  const source = await createTestDatabase();
  const target = await createTestDatabase();
  const connection = source.superuser;
  await fillAudit(connection, rows, USERS);
  const copied = await measured(rows, "COPY of the log to a file, the floor", async () => {
    await withCopyClient(connection, signal, (client) =>
      pipeline(client.copyTo("copy audit to stdout"), createWriteStream(join(directory, "raw"))),
    );
  });
  const saved = await measured(rows, "backup", () =>
    writeFileWhole(file, false, (sink) =>
      writeBackup({ connection, program: "bench", createdAt: new Date(0), auditKey: undefined, signal }, sink),
    ),
  );
  const checked = await measured(rows, "restore --check", () => verifyBackup(file, signal));
  const loaded = await measured(rows, "restore, with its indexes", () =>
    restoreBackup(file, {
      connection: target.superuser,
      ...{ serviceRole: "uam", force: false, uids: { first: 20_000, last: 59_999, onHost: undefined }, signal },
      beforeCommit: async () => {},
    }),
  );
  const size = (name: string) => `${Math.round(statSync(join(directory, name)).size / 2 ** 20)} MiB`;
  console.log(`backup / floor ${(saved / copied).toFixed(2)}, check / floor ${(checked / copied).toFixed(2)}`);
  console.log(
    `restore / floor ${(loaded / copied).toFixed(2)}; ${size("raw")} of text are ${size("backup")} in the backup`,
  );
  rmSync(directory, { recursive: true });
  await source.drop();
  await target.drop();
}

/** Seconds. */
async function measured(rows: number, name: string, work: () => Promise<unknown>): Promise<number> {
  let peak = residentMiB();
  const watch = setInterval(() => {
    peak = Math.max(peak, residentMiB());
  }, 20);
  const { time, processor } = await costOf(work);
  clearInterval(watch);
  const seconds = time / 1000;
  const used = `${(processor / 1e6).toFixed(2)} s of processors`;
  const memory = `peak RSS ${Math.round(Math.max(peak, residentMiB()))} MiB`;
  console.log(
    `${name.padEnd(40)} ${seconds.toFixed(2)} s, ${used}, ${Math.round(rows / seconds)} records/s, ${memory}`,
  );
  return seconds;
}
