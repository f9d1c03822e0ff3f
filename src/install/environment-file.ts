/** Reading the environment file, which the unit and every command of the installed program do. */

import { lstatSync, readFileSync } from "node:fs";
import { UamError } from "../shared/errors.ts";

/**
 * The variables of an environment file, or none if it is missing or not readable here. Throws `invalid` if anybody but its
 * owner root could have written it, or if a line is not NAME=VALUE.
 */
export function readEnvironmentFile(path: string, owner = 0): Readonly<Record<string, string>> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return {};
  if (!stat.isFile() || stat.uid !== owner || (stat.mode & 0o022) !== 0) {
    throw new UamError("invalid", `${path} must belong to root, and nobody else may write it: chown root, chmod go-w`);
  }
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") return {};
    throw error;
  }
  return Object.fromEntries(
    text.split(/\r?\n/).flatMap((line, index) => {
      if (/^\s*([#;].*)?$/.test(line)) return [];
      const match = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line);
      if (match === null) throw new UamError("invalid", `${path} line ${index + 1} is not NAME=VALUE`);
      return [[match[1] ?? "", unquote(match[2]?.trim() ?? "")]];
    }),
  );
}

/** As systemd.exec(5) reads a value on one line: surrounding quotes are removed, and in double quotes a backslash escapes. */
function unquote(value: string): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1);
  if (/^".*"$/.test(value)) return value.slice(1, -1).replace(/\\(["\\`$])/g, "$1");
  return value;
}
