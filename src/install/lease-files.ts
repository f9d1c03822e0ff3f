/** The files by which sshd sees a lease, on a host that runs an agent. */

import { AGENT_RUN_DIRECTORY } from "../agent/paths.ts";
import { REVOKED_KEYS_FILE } from "./settings.ts";

export const LEASE_FILES = { directory: AGENT_RUN_DIRECTORY, target: REVOKED_KEYS_FILE } as const;
