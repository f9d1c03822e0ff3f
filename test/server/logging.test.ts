import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { openLog } from "../../src/server/logging.ts";
import { loggable } from "../../src/shared/errors.ts";
import { type DatabaseHandle, openDatabase } from "../../src/store/client.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

describe("openLog()", () => {
  let database: TestDatabase;
  let handle: DatabaseHandle;
  beforeAll(async () => {
    database = await createTestDatabase();
    handle = openDatabase(database.connection, 1);
  });
  afterAll(async () => {
    await handle.close();
    await database.drop();
  });

  /** A statement that failed, with values that nobody but the database may see. */
  async function failure(): Promise<Error> {
    const value = "secret\n    at nowhere";
    const outcome = await handle.db.execute(sql`select ${value}::text, 1 / 0`).catch((error: unknown) => error);
    if (!(outcome instanceof Error)) throw new Error("the statement did not fail");
    return outcome;
  }

  for (const format of ["json", "pretty"] as const) {
    test(`openLog() writes the text of a statement that failed, and why, but none of its values, as ${format}`, async () => {
      const error = await failure();
      expect(error.message).toContain("secret");
      const lines: string[] = [];
      const log = openLog({ format, level: "info", journal: false, write: (line) => void lines.push(line) });
      log.error("it failed", { error: new Error("outer", { cause: error }) });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain("select $1::text, 1 / 0");
      expect(lines[0]).toContain("division by zero");
      expect(lines[0]).not.toContain("secret");
    });
  }

  test("loggable() keeps where a statement failed, and leaves other errors as they are", async () => {
    const { stack } = loggable(await failure());
    expect(stack).toMatch(/^Error: Failed query: select \$1::text, 1 \/ 0\n {4}at /);
    const other = new Error("plain");
    expect(loggable(other)).toEqual({ message: "plain", stack: other.stack });
  });
});
