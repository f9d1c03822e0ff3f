/** The credentials of the service's unit, for commands at the shell, which systemd gives none. */

import { join } from "node:path";
import { credentialIn, SYSTEM_CREDENTIALS } from "../../../config/credentials.ts";
import { UNIT_FILE } from "../../../install/settings.ts";
import { unitText } from "./service-user.ts";

type Variables = Readonly<Record<string, string | undefined>>;

const LINE = /^(?:Load|Set)Credential(?:Encrypted)?=\s*(UAM_[A-Z_]+)/gm;

/**
 * `UAM_X_FILE` for each secret that the unit has as a credential and `variables` has not: where systemd keeps it while the service
 * runs. At other times reading it fails, so that no command takes a missing secret for one that is not set: without
 * UAM_DATABASE_URL it would make a database of its own.
 */
export function unitCredentials(variables: Variables, unitFile = UNIT_FILE): Readonly<Record<string, string>> {
  const names = [...readable(unitFile).matchAll(LINE)].map(([, name = ""]) => name);
  const missing = names.filter(
    (name) => !variables[name] && !variables[`${name}_FILE`] && credentialIn(variables, name) === undefined,
  );
  return Object.fromEntries(missing.map((name) => [`${name}_FILE`, join(SYSTEM_CREDENTIALS, "uam.service", name)]));
}

/** A drop-in with a secret in it is root's alone: who cannot read it cannot read the environment file either. */
function readable(unitFile: string): string {
  try {
    return unitText(unitFile);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") return "";
    throw error;
  }
}
