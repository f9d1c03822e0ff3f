/** How hosts and their groups are named. */

import { UamError } from "../errors.ts";

/** Lower-case letters, digits, and dots, dashes and underscores between them; as long as a host name may be. */
export const HOST_NAME = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/;

/**
 * The name as it is stored. Throws `invalid` for a text that is not a name, and for a number, which could be taken for
 * an id.
 */
export function parseHostName(what: "host" | "group", text: string): string {
  const name = text.trim().toLowerCase();
  if (HOST_NAME.test(name) && !/^\d+$/.test(name)) return name;
  const rule =
    "1 to 63 letters a to z, digits, dots, dashes and underscores, not only digits, and begins and ends with a letter or digit";
  throw new UamError("invalid", `The name of a ${what} has ${rule}`);
}

/** The name of the service's own host. */
export const LOCAL_NAME = "local";
