import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { openDatabase } from "../../src/store/client.ts";
import { isAnyOf } from "../../src/store/conditions.ts";
import { users } from "../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

test("isAnyOf() finds what is in the list, and PostgreSQL keeps one plan for any list", async () => {
  const { db, close } = openDatabase(app.superuser, 1);
  try {
    await db.execute(sql`
      insert into users (username, email, expire_at, created_at, updated_at)
      select 'any' || n, 'x@example.org', now(), now(), now() from generate_series(1, 3000) n`);
    await db.execute("analyze users");
    const query = db
      .select({ name: users.username })
      .from(users)
      .where(isAnyOf(users.username, "text[]", sql`${sql.placeholder("names")}`))
      .prepare("any_of");
    const find = async (...names: readonly string[]) =>
      (await query.execute({ names: `{${names.join(",")}}` })).map(({ name }) => name).sort();
    for (let call = 0; call < 10; call++) expect(await find(`any${call + 1}`)).toEqual([`any${call + 1}`]);
    expect(await find("any7", "nobody", "any20")).toEqual(["any20", "any7"]);
    expect(await find()).toEqual([]);
    const [plans] = await db.execute(sql`
      select custom_plans, generic_plans from pg_prepared_statements where statement like '%"username" = any%'`);
    // Five that are made for their lists come before it is decided.
    expect({ ...plans }).toEqual({ custom_plans: "5", generic_plans: "7" });
  } finally {
    await close();
  }
});
