/** Loaded before all test files (bunfig.toml). */

import { afterAll } from "bun:test";
import { mkdirSync } from "node:fs";
import { env } from "node:process";
import { stopTestServer } from "./database.ts";

// A worker of `bun test --parallel` would do so after each of its files, of which the next then started another one.
if (env.BUN_TEST_WORKER_ID === undefined) afterAll(stopTestServer);

// sshd says nothing of its settings without it, and on a machine where no sshd was started yet it is missing.
if (env.UAM_TEST_HOST === "1") mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
