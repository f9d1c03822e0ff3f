import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { createRunner, type Job } from "../../../src/server/jobs/runner.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
});
afterEach(() => app.close());

/** As many as the service has for operations. */
const CONNECTIONS = 12;

describe("createRunner()", () => {
  test("of more jobs than connections leaves each the connections for its work", async () => {
    const { db, close } = openDatabase(app.connection, CONNECTIONS);
    const runner = createRunner({ ...app.services, db }, new AbortController().signal);
    const done: string[] = [];
    const jobs = Array.from({ length: 2 * CONNECTIONS }, (_, index): Job => {
      const name = `job${index}`;
      return {
        ...{ name, schedule: "" },
        // Four operations at once, as where many users are concerned.
        run: async () => {
          const works = Array.from({ length: 4 }, () => db.transaction((tx) => tx.execute(sql`select pg_sleep(0.01)`)));
          await Promise.all(works);
          done.push(name);
        },
      };
    });
    await Promise.all(jobs.map((job) => runner.start(job)));
    expect(done.sort()).toEqual(jobs.map(({ name }) => name).sort());
    await close();
  });

  test("an urgent job waits for none of the others; a job that waits is begun once, and not after the end", async () => {
    const end = new AbortController();
    const runner = createRunner(app.services, end.signal);
    const held = Promise.withResolvers<void>();
    const begun: string[] = [];
    const job = (name: string, isUrgent?: true): Job => ({
      ...{ name, schedule: "", ...(isUrgent ? { isUrgent } : {}) },
      run: async () => {
        begun.push(name);
        if (!isUrgent) await held.promise;
      },
    });
    const slow = ["a", "b", "c", "waits"].map((name) => job(name));
    for (const each of [...slow, ...slow]) void runner.start(each);
    while (begun.length < 3) await Bun.sleep(1);
    await runner.start(job("urgent", true));
    expect(begun.sort()).toEqual(["a", "b", "c", "urgent"]);
    end.abort();
    held.resolve();
    await runner.ended();
    expect(begun).toHaveLength(4);
  });
});
