/** Where an agent keeps what on its host. */

/** The agent's own: who it is, its key, what it was last told. */
export const AGENT_DIRECTORY = "/var/lib/uam-agent";
/** Gone after a boot, so that the host is shut until the service has answered. */
export const AGENT_RUN_DIRECTORY = "/run/uam-agent";
/** What sshd is told to read as the list of revoked keys; without it, it refuses every key. */
export const REVOKED_KEYS_LINK = `${AGENT_RUN_DIRECTORY}/revoked-keys`;
/** In AGENT_RUN_DIRECTORY: what `uam agent status` shows. */
export const STATUS_FILE = "status.json";
/** In AGENT_DIRECTORY: there if the host has joined a service. */
export const IDENTITY_FILE = "agent.json";
