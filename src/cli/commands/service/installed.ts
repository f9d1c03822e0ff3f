/** The configuration of the service on this host, for commands at its shell. */

import { existsSync } from "node:fs";
import { readEnvironmentFile } from "../../../install/environment-file.ts";
import { AGENT_ENVIRONMENT_FILE, ENVIRONMENT_FILE } from "../../../install/settings.ts";
import { publicMessage } from "../../../shared/errors.ts";
import { EXIT } from "../../terminal/environment.ts";

/** The variables of /etc/uam/uam.env, or of /etc/uam/agent.env on an agent's host; none if both are missing. A file that must not be trusted ends the program through `refuse`. */
export function installedVariables(
  refuse: (message: string, exitCode: number) => never,
): Readonly<Record<string, string>> {
  try {
    return readEnvironmentFile(existsSync(ENVIRONMENT_FILE) ? ENVIRONMENT_FILE : AGENT_ENVIRONMENT_FILE);
  } catch (error) {
    return refuse(`uam: ${publicMessage(error)}\n`, EXIT.configuration);
  }
}
