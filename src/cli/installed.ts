/** The configuration of the service on this host, for commands at its shell. */

import { readEnvironmentFile } from "../install/environment-file.ts";
import { ENVIRONMENT_FILE } from "../install/settings.ts";
import { publicMessage } from "../shared/errors.ts";
import { EXIT } from "./environment.ts";

/** The variables of /etc/uam/uam.env; none if it is missing. A file that must not be trusted ends the program through `refuse`. */
export function installedVariables(
  refuse: (message: string, exitCode: number) => never,
): Readonly<Record<string, string>> {
  try {
    return readEnvironmentFile(ENVIRONMENT_FILE);
  } catch (error) {
    return refuse(`uam: ${publicMessage(error)}\n`, EXIT.configuration);
  }
}
