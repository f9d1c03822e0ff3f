/** Where an agent keeps what on its host. */

/** The agent's own: its identity, its key, and the last answer of the service. */
export const AGENT_DIRECTORY = "/var/lib/uam-agent";
/** Gone after a boot, so that the host is shut until the service has answered. */
export const AGENT_RUN_DIRECTORY = "/run/uam-agent";
/** The list of revoked keys that sshd is told to read; without it, sshd refuses every key. */
export const REVOKED_KEYS_LINK = `${AGENT_RUN_DIRECTORY}/revoked-keys`;
/** In AGENT_RUN_DIRECTORY: read by `uam agent status`. */
export const STATUS_FILE = "status.json";
/** In AGENT_DIRECTORY: there if the host has joined a service. */
export const IDENTITY_FILE = "agent.json";
