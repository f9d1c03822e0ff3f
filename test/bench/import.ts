/** The cost of importing a file of users in dry-run, compared with storing its rows and queueing their mails, which is the least there is to do. */

import { checkImport } from "../../src/domain/users/import/check.ts";
import { importUsers } from "../../src/domain/users/import/import-users.ts";
import { createHost } from "../../src/host/create-host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { silentLog } from "../../src/shared/log.ts";
import { accounts, outbox, users } from "../../src/store/schema.ts";
import { createTestApp } from "../support/app.ts";
import { testSettings } from "../support/host-account.ts";
import { costOf, describeRun } from "./bench.ts";

const LINES = 10_000;

/** Prints time and processor time of the check, of the import and of the floor, and the ratio. */
export async function benchImport(): Promise<void> {
  const app = await createTestApp();
  const host = await createHost(testSettings(), silentLog, bunRuntime);
  const context = { ...app.system, host };
  console.log(`\n## Importing ${LINES} users, in dry-run\n`);
  console.log(await describeRun(app));
  const bytes = new TextEncoder().encode(
    `username,email,full_name,supervisor,purpose,note\r\n${Array.from(
      { length: LINES },
      (_, n) => `u${n},u${n}@example.org,User ${n},Boss ${n % 50},"Builds, and their servers",\r\n`,
    ).join("")}`,
  );
  const check = await costOf(() => checkImport(context, bytes));
  const own = await costOf(() => importUsers(context, bytes));
  const floor = await costOf(() => storeBare(app.db, app.clock.now()));
  for (const [name, { time, processor }] of Object.entries({ check, import: own, floor })) {
    console.log(`${name.padEnd(9)} ${(time / 1000).toFixed(2)} s, ${(processor / 1e6).toFixed(2)} s of a processor`);
  }
  console.log(`ratio     x ${(own.processor / floor.processor).toFixed(2)}`);
  await app.close();
}

/** Each user's rows and mail, by a statement each. */
async function storeBare(db: Awaited<ReturnType<typeof createTestApp>>["db"], now: Date): Promise<void> {
  const text = "x".repeat(2000);
  const html = "x".repeat(8000);
  for (let n = 0; n < LINES; n++) {
    await db.transaction(async (tx) => {
      const row = { username: `f${n}`, email: `f${n}@example.org`, expireAt: now, createdAt: now, updatedAt: now };
      const [user] = await tx.insert(users).values(row).returning({ id: users.id });
      await tx.insert(accounts).values({ userId: user?.id ?? 0, uid: 5_000_000 + n });
      await tx
        .insert(outbox)
        .values({ recipient: row.email, subject: "Your account", text, html, createdAt: now, dueAt: now });
    });
  }
}
