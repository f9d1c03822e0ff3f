/** Reviews, sponsors' pages and the end of a company, at the sizes that are promised. */

import { sql } from "drizzle-orm";
import { createCompany } from "../../src/domain/companies/companies.ts";
import { endCompany, readEnding } from "../../src/domain/companies/ending.ts";
import { startReview } from "../../src/domain/reviews/start.ts";
import { createUser } from "../../src/domain/users/users.ts";
import { DAY, shift } from "../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { costOf, describeRun, percentile, timed } from "./bench.ts";
import type { BenchOptions } from "./options.ts";

const PEOPLE = 10_000;
const SPONSORS = 50;
const OF_COMPANY = 2000;
/** Users who are created at the same moment. */
const AT_ONCE = 8;

/** Prints how long each takes; throws if the end of a company ever says that somebody is without access whose account is open. */
export async function benchAnswerable({ calls }: BenchOptions): Promise<void> {
  const app = await createTestApp();
  await fillSponsored(app);
  console.log(
    `\n## A review of ${PEOPLE} users with ${SPONSORS} sponsors, and the end of a company of ${OF_COMPANY}\n`,
  );
  console.log(await describeRun(app));
  const begun = await costOf(() => startReview(app.system, { scope: "all", dueDays: 14, unanswered: "disable" }));
  console.log(`a review begins   ${begun.time.toFixed(0)} ms, ${(begun.processor / 1000).toFixed(0)} ms of processors`);
  await lookOften(app, calls);
  await endLarge(app);
  await app.close();
}

/** Each with a key that was used, by the program's clock. */
async function fillSponsored({ alter, clock }: TestApp): Promise<void> {
  const [now, end] = [clock.now().toISOString(), shift(clock.now(), 90 * DAY).toISOString()];
  await alter(`
    insert into users (username, email, sponsor_email, status, expire_at, created_at, updated_at)
    select 'u' || n, 'u' || n || '@example.org', 's' || n % ${SPONSORS} || '@example.com', 'active', '${end}', '${now}', '${now}'
      from generate_series(1, ${PEOPLE}) n`);
  await alter("vacuum analyze users");
}

/** What a sponsor's page asks for. */
async function lookOften(app: TestApp, calls: number): Promise<void> {
  const [mail] = await app.mails("s1@example.com");
  const token = /\/decide#([\w-]{43})/.exec(mail?.text ?? "")?.[1];
  const times: number[] = [];
  let items = 0;
  const { processor } = await costOf(async () => {
    for (let call = 0; call < calls; call++) {
      times.push(
        await timed(async () => {
          const answer = await app.anonymous().call("POST", "/decisions/look", { token });
          items = answer.body.data.items.length;
        }),
      );
    }
  });
  const of = [0.5, 0.99].map((share) => `${percentile(times, share).toFixed(0)} ms`).join(", ");
  const each = `${(processor / calls / 1000).toFixed(0)} ms of processors each`;
  console.log(`a sponsor's page  ${items} people, ${calls} times: p50, p99 ${of}; ${each}`);
}

async function endLarge(app: TestApp): Promise<void> {
  const { row } = await createCompany(app.system, { name: "Large" });
  for (let at = 0; at < OF_COMPANY; at += AT_ONCE) {
    const names = Array.from({ length: AT_ONCE }, (_, n) => `large-${at + n}`);
    await Promise.all(
      names.map((username) =>
        createUser(app.system, { username, email: `${username}@example.org`, companyId: row.id }),
      ),
    );
  }
  const asked = performance.now();
  const first = await endCompany(app.system, row.id, 0);
  const answered = performance.now() - asked;
  let looks = 0;
  let longest = 0;
  for (let at = first; at.status !== "ended"; looks++) {
    const began = performance.now();
    at = await readEnding(app.system, row.id);
    longest = Math.max(longest, performance.now() - began);
    const shut = [...app.host.accounts].filter(([name, { open }]) => name.startsWith("ext_large-") && !open).length;
    if (at.users.closed - at.users.owed > shut) throw new Error(`${at.users.closed} are closed, and ${shut} are shut`);
    await Bun.sleep(100);
  }
  const [left] = await app.db.execute<{ n: number }>(
    sql`select count(*)::int as n from users where company_id = ${row.id} and status = 'active'`,
  );
  console.log(
    `a company ends    answered after ${answered.toFixed(0)} ms, over after ${((performance.now() - asked) / 1000).toFixed(1)} s; ` +
      `asked ${looks} times meanwhile, the longest ${longest.toFixed(0)} ms; ${left?.n} still active`,
  );
}
