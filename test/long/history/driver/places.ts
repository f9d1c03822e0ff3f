/** Where a host of the history keeps what, below a directory of its own. */

import { join } from "node:path";
import type { LeaseFiles } from "../../../../src/agent/lease.ts";

export interface Places {
  /** The agent's own, on a small file system that can be filled. */
  readonly directory: string;
  readonly files: LeaseFiles;
  /** The accounts and their key files. */
  readonly host: string;
  /** A file with the milliseconds that the host's clock is ahead. */
  readonly skew: string;
  readonly bin: string;
}

/** In seconds: by how much the lease ends early, so that whoever enforces it has time to look. */
export const EARLY = 4;

export function placesIn(base: string): Places {
  const files = { directory: join(base, "run"), target: join(base, "revoked") };
  const directory = join(base, "disk/lib");
  return { directory, files, host: join(base, "host.json"), skew: join(base, "skew"), bin: join(base, "bin") };
}
