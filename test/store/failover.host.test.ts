/** Two replicas of the service, a primary and a synchronous standby; the primary is lost under load. */

import { expect, test } from "bun:test";
import { MINUTE } from "../../src/shared/time/clock.ts";
import { startLoad } from "../long/failover/load.ts";
import { type Replicas, startReplicas } from "../long/failover/replicas.ts";
import { verdict } from "../long/failover/verdict.ts";
import { HANG } from "../support/hang.ts";
import { type PostgresNode, startPostgresNodes } from "../support/postgres-nodes.ts";
import { until } from "../support/until.ts";

const WRITERS = 4;
const EXPIRING = 20;
/** So many changes before the loss, and after it, show that it was amid work; of three, one leaves a user who is not disabled. */
const ENOUGH = 3 * EXPIRING;

test.if(process.env.UAM_TEST_HOST === "1")(
  "a primary that is lost under load: nothing acknowledged is lost, callers go on, the log verifies, jobs run once",
  async () => {
    const cluster = await startPostgresNodes(1, {}, { synchronous_standby_names: "s1" });
    const [primary, standby] = cluster.nodes as [PostgresNode, PostgresNode];
    const replicas = await startReplicas(cluster.url("?target_session_attrs=read-write", [standby, primary]), 2);
    await waitsForStandby(replicas, primary, standby);
    const load = startLoad(replicas, WRITERS);
    await until(() => load.acknowledged.length > ENOUGH);
    const before = load.acknowledged.length;
    await primary.kill();
    const lost = performance.now();
    await standby.run("select pg_promote()");
    const promoted = performance.now();
    const afterwards = () => load.acknowledged.filter(({ at }) => at > promoted);
    await until(() => afterwards().length > ENOUGH);
    const again = afterwards()[0]?.at ?? Number.NaN;
    await load.stop();
    const after = afterwards().length;
    console.log(
      `${before} changes acknowledged before, ${after} after the loss; promoted after ${seconds(promoted - lost)}, ` +
        `served again ${seconds(again - promoted)} later, nobody told of a success for ${seconds(load.longestGap())}; ` +
        `answers: ${[...load.answers].map(([status, count]) => `${count} x ${status}`).join(", ")}`,
    );

    const found = await verdict((statement) => standby.run(statement), replicas, load.acknowledged);
    expect(found).toEqual({ lost: [], doubled: [], audit: "" });
    expect(before).toBeGreaterThan(ENOUGH);
    expect(after).toBeGreaterThan(ENOUGH);
    // Success, or a refusal that says to come back; what takes access away may say that it goes on by itself.
    const odd = [...load.answers.keys()].filter(
      (status) => !/^(20[01]|\d+ (service\.not_ready|audit\..*)|500 access\.owed)$/.test(status),
    );
    expect(odd).toEqual([]);

    // Both replicas still run, and their jobs do each thing once.
    await standby.run(`update users set expire_at = now() - interval '1 second' where id in
      (select id from users where disabled_at is null order by id limit ${EXPIRING})`);
    const expired = `select subject_id, count(*)::int as count from audit where action = 'lifecycle.expire' group by 1`;
    // The job comes by once a minute.
    await until(async () => (await standby.run(expired)).length === EXPIRING, MINUTE + HANG);
    expect(await standby.run<{ count: number }>(`select distinct count from (${expired}) as each`)).toMatchObject([
      { count: 1 },
    ]);
    for (const service of replicas.services) expect((await fetch(`${service.origin}/api/v1/readyz`)).status).toBe(200);
    await replicas.stop();
    await cluster.close();
  },
  300_000,
);

/** A commit whose wait for the standby is cancelled is on the primary alone: it is not acknowledged before the standby has it. */
async function waitsForStandby(
  { services, token }: Replicas,
  primary: PostgresNode,
  standby: PostgresNode,
): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ username: "patient", email: "patient@example.org" });
  // The use of the token is noted, which waits too.
  await fetch(`${services[0]?.origin}/api/v1/users`, { headers });
  standby.freeze();
  let status = 0;
  const asked = fetch(`${services[0]?.origin}/api/v1/users`, { method: "POST", headers, body }).then((response) => {
    status = response.status;
  });
  const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
  await until(async () => (await primary.run(cancel)).length > 0);
  await Bun.sleep(1000);
  expect(status).toBe(0);
  standby.thaw();
  await asked;
  expect(status).toBe(201);
  expect(services[0]?.log()).toContain("a change was committed, but no standby has it");
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
