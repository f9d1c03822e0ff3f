/** Loaded before all test files (bunfig.toml). */

import { afterAll } from "bun:test";
import { env } from "node:process";
import { stopTestServer } from "./database.ts";

// A worker of `bun test --parallel` would do so after each of its files, of which the next then started another one.
if (env.BUN_TEST_WORKER_ID === undefined) afterAll(stopTestServer);
