/** Which PostgreSQL the tests use: npm's, which needs no compiler; or, with UAM_TEST_POSTGRES=source, the one that a release carries. */

import process from "node:process";
import type { PostgresOrigin } from "../../src/build/postgres/pinned.ts";

export const serverUnderTest = readOrigin(process.env.UAM_TEST_POSTGRES);

function readOrigin(value: string | undefined): PostgresOrigin {
  if (value === undefined || value === "npm") return "npm";
  if (value === "source") return "source";
  throw new Error(`UAM_TEST_POSTGRES is "${value}", not "source" or "npm".`);
}
