/** Two companies with a manager each, and requests of the one drawn at random over every route of the document. */

import { sql } from "drizzle-orm";
import fc from "fast-check";
import { createCompany } from "../../src/domain/companies/companies.ts";
import { createUser } from "../../src/domain/users/users.ts";
import { WITHDRAWN } from "../../src/shared/product/statuses.ts";
import type { TestApp } from "./app.ts";
import { freshKey } from "./keys.ts";
import { makeManager } from "./manager.ts";
import { apiDocument } from "./openapi.ts";

/** What nobody but the other company may read; no request contains it. */
const SECRET = "brackwater";

export interface World {
  /** Sends that many requests; throws at the first that reads or changes what it must not. Returns which routes answered with success. */
  tryRequests(count: number, seed: number): Promise<{ readonly sent: number; readonly succeeded: ReadonlySet<string> }>;
}

const routes = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
  Object.keys(methods ?? {}).map((method) => ({ method: method.toUpperCase(), path })),
);

/** What ends the manager's own login or access; tried elsewhere. */
const ENDING = ["POST /auth/logout", "POST /me/lock"];

export async function createManagersWorld(app: TestApp): Promise<World> {
  const { id, client } = await app.user("manager");
  const own = await makeManager(app, id);
  for (let n = 0; n < 3; n++) {
    await createUser(app.system, { username: `own-${n}`, email: `own-${n}@example.org`, companyId: own, ttlDays: 20 });
  }
  const { row: other } = await createCompany(app.system, {
    name: `${SECRET} AB`,
    sponsorEmail: `${SECRET}@example.org`,
  });
  const theirs = await app.user(`${SECRET}-1`);
  await makeManager(app, theirs.id, other.id);
  await theirs.client.call("POST", "/me/keys", { name: SECRET, public_key: freshKey() });
  const { id: free } = await app.user(`${SECRET}-2`);

  /** All that is stored of others, and what was decided of anybody; managers withdraw only what is for themselves. */
  const ofOthers = async () => {
    const [row] = await app.db.execute<{ all: unknown }>(sql`select jsonb_build_array(
      (select jsonb_agg(u order by u.id) from users u where u.company_id is distinct from ${own}),
      (select jsonb_agg(c order by c.id) from companies c),
      (select jsonb_agg(k order by k.id) from ssh_keys k join users u on u.id = k.user_id where u.company_id is distinct from ${own}),
      (select jsonb_agg(g order by g.id) from host_groups g), (select jsonb_agg(h order by h.id) from hosts h),
      (select jsonb_agg(a order by a.id) from admins a), (select jsonb_agg(s) from settings s), (select jsonb_agg(t) from tokens t),
      (select jsonb_agg(r order by r.id) from approvals r where r.status <> 'pending'
        and (r.user_id is distinct from ${id} or r.reason is distinct from ${WITHDRAWN}))) as all`);
    return JSON.stringify([row?.all, [...app.host.accounts].filter(([name]) => name.includes(SECRET))]);
  };
  /** What each of the company may do; it only ever becomes less. */
  const ofOwn = async () =>
    await app.db.execute<{
      id: string;
      status: string;
      expires: string;
      networks: string;
      grants: number;
      manager: boolean;
    }>(sql`
      select u.id, u.status, u.expire_at::text as expires, u.source_networks::text as networks, u.manager,
        (select count(*)::int from grants g where g.user_id = u.id) as grants
      from users u where u.company_id = ${own} order by u.id`);

  const ids = [id, theirs.id, free, own, other.id, id + 1, 1, 2, 3, 999_999];
  const anyId = fc.constantFrom(...ids);
  const value = fc.oneof(
    anyId,
    fc.constantFrom<unknown>(
      true,
      false,
      null,
      "",
      "2030-01-01T00:00:00Z",
      "192.0.2.0/24",
      [],
      ["192.0.2.0/24"],
      "web",
    ),
    fc.string({ maxLength: 8 }),
  );
  const names = [
    "user_id",
    "days",
    "reason",
    "username",
    "email",
    "purpose",
    "full_name",
    "company_id",
    "manager",
    "name",
  ];
  const more = ["ttl_days", "until", "hosts", "groups", "approve", "status", "role", "key", "value", "contract_end"];
  const apt = fc.oneof(
    fc.record({ user_id: anyId, days: fc.integer({ min: 1, max: 365 }), reason: fc.constant("More") }),
    fc.record({
      username: fc.stringMatching(/^[a-z]{3,8}$/),
      email: fc.constant("somebody@example.org"),
      purpose: fc.constant("Tests"),
    }),
    fc.record({ days: fc.constant(30), reason: fc.constant("More") }),
  );
  const body = fc.oneof(
    apt,
    fc.dictionary(fc.constantFrom(...names, ...more), value, { maxKeys: 5 }),
    fc.constant(undefined),
  );
  const own4 = routes.filter(({ path }) => path.startsWith("/me"));
  const request = fc.record({
    // A third of them where something can be done.
    route: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...routes) },
      { weight: 1, arbitrary: fc.constantFrom(...own4) },
    ),
    ids: fc.array(anyId, { minLength: 2, maxLength: 2 }),
    query: fc.constantFrom("", "", "?preview=true", `?company=${other.id}`, "?page_size=100", `?user_id=${theirs.id}`),
    body,
  });

  return {
    async tryRequests(count, seed) {
      const succeeded = new Set<string>();
      let sent = 0;
      for (const { route, ids: drawn, query, body: given } of fc.sample(request, { numRuns: count, seed })) {
        const { method, path } = route;
        const name = `${method} ${path}`;
        sent++;
        if (ENDING.includes(name)) continue;
        const left = [...drawn];
        const url = `${path.replace(/\{\w+\}/g, () => String(left.shift() ?? 1))}${query}`;
        const isEndOfSelf = name === "POST /me/company/users/{id}/end" && drawn[0] === id;
        if (isEndOfSelf) continue;
        const [before, ownBefore] = [await ofOthers(), await ofOwn()];
        const answer = await client.call(method, url, method === "GET" ? undefined : given);
        const where = `${method} ${url} ${JSON.stringify(given)}: ${answer.status} ${answer.text.slice(0, 300)}`;
        if (answer.status >= 500) throw new Error(`fails: ${where}`);
        if (answer.text.includes(SECRET)) throw new Error(`reads of another company: ${where}`);
        if ((await ofOthers()) !== before) throw new Error(`changes what is not of their company: ${where}`);
        const after = new Map((await ofOwn()).map((user) => [user.id, user]));
        if (after.size !== ownBefore.length) throw new Error(`adds or removes somebody: ${where}`);
        for (const was of ownBefore) {
          const is = after.get(was.id);
          const isLess = is?.status === "disabled" && was.status === "active";
          const isSame = JSON.stringify({ ...is, status: "" }) === JSON.stringify({ ...was, status: "" });
          if (!isSame || (is?.status !== was.status && !isLess)) throw new Error(`gives something: ${where}`);
        }
        if (answer.status < 300) succeeded.add(name);
        // Changes beyond a number in a minute are refused without being looked at.
        app.clock.advance(1000);
        if (sent % 20 === 0) app.clock.advance(60_000);
      }
      if ((await client.call("GET", "/me/company")).status !== 200) throw new Error("the manager is one no longer");
      return { sent, succeeded };
    },
  };
}
