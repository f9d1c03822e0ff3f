/** Where an agent of these tests keeps what, below a directory of its own. */

import { join } from "node:path";
import type { LeaseFiles } from "../../../src/agent/lease.ts";

export interface Places {
  readonly directory: string;
  readonly files: LeaseFiles;
  /** The host itself. */
  readonly host: string;
}

export function placesIn(base: string): Places {
  const files = { directory: join(base, "run"), target: join(base, "revoked") };
  return { directory: join(base, "lib"), files, host: join(base, "host.json") };
}
