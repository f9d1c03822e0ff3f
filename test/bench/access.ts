/** `uam access`: who could log in at a moment, told from a log of any size, compared with only reading the same records. */

import { sql } from "drizzle-orm";
import { pastAccessAt } from "../../src/domain/access/past-access.ts";
import { createExportPlaces } from "../../src/domain/exports/places.ts";
import { DAY } from "../../src/shared/time/clock.ts";
import { openDatabase } from "../../src/store/client.ts";
import { createTestApp } from "../support/app.ts";
import { type Draft, fillAuditLog } from "../support/audit-log.ts";
import { costOf, describeRun, residentMiB, timed } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

const BLOCK = 10_000;
const USERS = 10_000;

/** Prints both times and their ratio; throws if not everybody who has access is found. */
export async function benchAccess({ rows }: BenchOptions): Promise<void> {
  const app = await createTestApp();
  const root = openDatabase(app.superuser, 1);
  await fillAuditLog(root.db, rows, draftOf(app.clock.now()));
  await root.close();
  console.log(`\n## Who could log in, from ${rows} audit records about ${USERS} users\n`);
  console.log(await describeRun(app));
  const read = await timed(async () => {
    for (let after = 0; after < rows; after += BLOCK) {
      await app.db.execute(sql`select actor, action, resource_id, subject_id, result, detail from audit
        where id > ${after} and id <= ${after + BLOCK} order by id`);
    }
  });
  Bun.gc(true);
  const idle = residentMiB();
  let found = 0;
  const { time: told, processor } = await costOf(async () => {
    const { items } = await pastAccessAt(app.system, { at: app.clock.now() }, createExportPlaces(1));
    found = items.length;
  });
  if (found !== USERS) throw new Error(`${found} of ${USERS} were found`);
  console.log(`reading ${read.toFixed(0)} ms`);
  console.log(
    `telling ${told.toFixed(0)} ms, ${(told / read).toFixed(2)} of reading; ${(processor / 1000).toFixed(0)} ms of processors, the database's too`,
  );
  console.log(`memory  ${(residentMiB() - idle).toFixed(0)} MiB above idle (${idle.toFixed(0)} MiB)`);
  await app.close();
}

/** Open all the time, in zones of their own; empty for always. */
const HOURS = ["", "mon-sun 00:00-24:00 UTC", "mon-sun 00:00-12:00; mon-sun 12:00-24:00 Europe/Berlin"];

/** Everybody is created and gets a key; then they are extended, or log in, over and over. */
function draftOf(now: Date): (index: number) => Draft {
  const until = new Date(now.getTime() + 90 * DAY).toISOString();
  return (index) => {
    const user = 1 + (index % USERS);
    const username = `user${user}`;
    const round = Math.floor(index / USERS);
    const deeds = [
      ["user.create", "user", String(user), { username, expire_at: until, hours: HOURS[user % HOURS.length] }],
      ["key.create", "ssh_key", String(user), { username, fingerprint: `SHA256:${user}` }],
      ["user.extend", "user", String(user), { username, expire_at: until }],
      ["auth.otp_login", "", "", { username }],
    ] as const;
    const [action, resourceType, resourceId, detail] = deeds[round < 3 ? round : 2 + (round % 2)] ?? deeds[0];
    return {
      ...{ createdAt: new Date(now.getTime() - 1), actorType: "admin", actor: "root-admin", action },
      ...{ resourceType, resourceId, detail: JSON.stringify(detail), result: "success", ip: "", subjectId: user },
    };
  };
}
