/** Secrets that systemd gives a unit, decrypted, in a directory that only its user can read (systemd.exec(5), CREDENTIALS). */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Below it, each unit that runs has the directory of its own. */
export const SYSTEM_CREDENTIALS = "/run/credentials/";

/** The path of this unit's credential of that name; undefined if there is none. */
export function credentialIn({ CREDENTIALS_DIRECTORY: directory }: Environment, name: string): string | undefined {
  if (!directory) return undefined;
  const path = join(directory, name);
  return existsSync(path) ? path : undefined;
}

/** The names of this unit's credentials that begin as a variable of ours does. */
export function credentialsIn({ CREDENTIALS_DIRECTORY: directory }: Environment): readonly string[] {
  if (!directory || !existsSync(directory)) return [];
  return readdirSync(directory).filter((name) => name.startsWith("UAM_"));
}
