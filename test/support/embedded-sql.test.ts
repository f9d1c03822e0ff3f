import { expect } from "bun:test";
import { rmSync } from "node:fs";
import { silentLog } from "../../src/shared/log.ts";
import { openEmbeddedPostgres } from "../../src/store/postgres/embedded-postgres.ts";
import { databaseDirectory } from "./directory.ts";
import { askEmbedded, askThroughRestarts } from "./embedded-sql.ts";
import { testSlow } from "./thorough.ts";

testSlow(
  "askThroughRestarts() asks again where the server went away under the question, and nowhere else",
  async () => {
    const dataDir = databaseDirectory("uam-asked-");
    const server = await openEmbeddedPostgres({ dataDir, log: silentLog, lifetime: "service", fsync: false });
    const END = "select pg_terminate_backend(pg_backend_pid())";
    let asked = 0;
    const ask = () => askEmbedded(dataDir, ++asked < 3 ? END : "select 1 as one");
    await expect(askThroughRestarts(ask, () => false)).rejects.toThrow();
    expect(asked).toBe(1);
    expect(await askThroughRestarts(ask, () => true)).toMatchObject([{ one: 1 }]);
    expect(asked).toBe(3);
    await expect(
      askThroughRestarts(
        () => askEmbedded(dataDir, "select no_such_column"),
        () => true,
      ),
    ).rejects.toThrow("no_such_column");
    await server.stop();
    rmSync(dataDir, { recursive: true });
  },
);
