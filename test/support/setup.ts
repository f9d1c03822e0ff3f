/** Loaded before all test files (bunfig.toml). */

import { afterAll, mock } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { env } from "node:process";
import { ownArchitecture, PROJECT } from "../../src/build/packages.ts";
import { stopTestServer } from "./database.ts";
import { serverUnderTest } from "./server-under-test.ts";

if (serverUnderTest === "source") {
  const { packServer } = await import("../../src/build/postgres-archive.ts");
  const how = { architecture: ownArchitecture(), level: 19 };
  const carriedPostgres = await packServer(join(PROJECT, "dist/cache"), how);
  mock.module("../../src/store/postgres/postgres-archive.ts", () => ({ carriedPostgres }));
}

// A worker of `bun test --parallel` would do so after each of its files, of which the next then started another one.
if (env.BUN_TEST_WORKER_ID === undefined) afterAll(stopTestServer);

// sshd says nothing of its settings without it, and on a machine where no sshd was started yet it is missing.
if (env.UAM_TEST_HOST === "1") mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
