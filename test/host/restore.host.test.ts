import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reconcileHost } from "../../src/domain/lifecycle/reconcile.ts";
import { writeBackup } from "../../src/store/backup/backup.ts";
import { writeFileWhole } from "../../src/store/backup/backup-file.ts";
import { restoreBackup } from "../../src/store/backup/restore.ts";
import { openDatabase } from "../../src/store/client.ts";
import { createTestApp } from "../support/app.ts";
import { createTestDatabase } from "../support/database.ts";
import { directHost, NAME, prepareHost, RUN, stored, UID } from "../support/direct-host.ts";
import { describeOnHost } from "../support/host-account.ts";

describeOnHost("restoring on a host without the accounts", () => {
  prepareHost();

  test("reconcileHost() after a restore reports the accounts that the host lacks, and makes none", async () => {
    const t = await createTestApp();
    await t.user(`tgone${RUN}`);
    const file = join(tmpdir(), `uam-test-restore-${RUN}`);
    const { signal } = new AbortController();
    const source = { connection: t.superuser, program: "1", createdAt: new Date(0), auditKey: undefined, signal };
    await writeFileWhole(file, true, (sink) => writeBackup(source, sink));
    const host = await directHost();
    await host.createAccount(stored());
    const onHost = await host.highestUid(UID, UID + 5);
    expect(onHost).toBe(UID);
    const database = await createTestDatabase();
    const { nextUid } = await restoreBackup(file, {
      ...{ connection: database.superuser, serviceRole: "uam", force: false, signal },
      uids: { first: UID, last: UID + 5, onHost },
      beforeCommit: async () => {},
    });
    expect(nextUid).toBeGreaterThan(UID);
    const handle = openDatabase(database.connection, 2);
    const drifts = await reconcileHost({ ...t.services, db: handle.db, host }, tmpdir(), "repair");
    const missing = drifts.filter((drift) => drift.account === `ext_tgone${RUN}`);
    expect(missing).toEqual([
      { account: `ext_tgone${RUN}`, kind: "missing", problem: expect.stringContaining("missing"), repaired: false },
    ]);
    expect(await host.presence({ name: NAME, uid: UID })).toBe("present");
    await handle.close();
    await Promise.all([database.drop(), t.close()]);
    rmSync(file);
  });
});
