/** The text of the environment file. */

import { describeVariables } from "../config/config.ts";
import { type InstallMode, STATE_DIRECTORY } from "./settings.ts";

/** The text of uam.env: the mode and the data directory, and every other variable with its default, commented out. */
export function renderEnvironment(mode: InstallMode): string {
  const set: Readonly<Record<string, string>> = { UAM_HOST_MODE: mode, UAM_DATA_DIR: STATE_DIRECTORY };
  const blocks = describeVariables().flatMap(({ name, fallback, meaning }) => {
    const [plain = name, file] = name.split(", ");
    const value = set[plain];
    const line = value === undefined ? `#${plain}=${fallback === "unset" ? "" : fallback}` : `${plain}=${value}`;
    return [
      // As it stands: a meaning may begin with a value, which a capital letter would make another one.
      `# ${meaning}`,
      line,
      ...(file === undefined ? [] : [`#${file}=`]),
      "",
    ];
  });
  return [
    "# Configuration of uam, one NAME=VALUE a line; `systemctl restart uam` puts it in force, `uam doctor` checks it.",
    "# Read by the unit and by uam at the shell. A value with spaces or one of #;'\"\\$ goes in double quotes.",
    "",
    ...blocks,
  ].join("\n");
}
