/** The text of the environment file. */

import { describeVariables } from "../config/config.ts";
import type { HostMode } from "../protocol/host.ts";
import { type InstallMode, STATE_DIRECTORY } from "./settings.ts";

const KEY_FILE_VARIABLE = "UAM_AUTHORIZED_KEYS_FILE";

/**
 * The text of uam.env: the mode, the data directory, and the place of the key files where it is not the default; every other
 * variable with its default, commented out.
 */
export function renderEnvironment(mode: InstallMode, authorizedKeysFile?: string): string {
  const set = { UAM_HOST_MODE: mode, UAM_DATA_DIR: STATE_DIRECTORY, [KEY_FILE_VARIABLE]: authorizedKeysFile };
  return [
    "# Configuration of uam, one NAME=VALUE per line; `systemctl restart uam` applies it, `uam doctor` checks it.",
    "# Read by the unit and by uam at the shell. A value with spaces or one of #;'\"\\$ goes in double quotes.",
    "",
    ...blocksOf(set, () => true),
  ].join("\n");
}

/** The settings that an agent uses: those of the host. All others are the service's. */
const AGENT_VARIABLES: ReadonlySet<string> = new Set([
  ...["UAM_HOST_MODE", "UAM_DATA_DIR", KEY_FILE_VARIABLE, "UAM_SSH_HOST", "UAM_HOME_BASE", "UAM_SHELL", "UAM_GROUPS"],
  ...["UAM_UID_RANGE", "UAM_LOG_FORMAT", "UAM_LOG_LEVEL"],
]);

/** The text of agent.env: as uam.env, with what concerns the host. */
export function renderAgentEnvironment(mode: HostMode, dataDir: string, authorizedKeysFile: string): string {
  const set = { UAM_HOST_MODE: mode, UAM_DATA_DIR: dataDir, [KEY_FILE_VARIABLE]: authorizedKeysFile };
  return [
    "# Configuration of uam's agent, one NAME=VALUE per line; `systemctl restart uam-agent` applies it.",
    "# Read by the unit and by uam at the shell. Who has access on this host is configured at the service.",
    "",
    ...blocksOf(set, (name) => AGENT_VARIABLES.has(name)),
  ].join("\n");
}

/** A block for each variable: those that are set, and the others with their default, commented out. */
function blocksOf(
  set: Readonly<Record<string, string | undefined>>,
  isMeant: (name: string) => boolean,
): readonly string[] {
  return describeVariables().flatMap(({ name, fallback, meaning }) => {
    const [plain = name, file] = name.split(", ");
    if (!isMeant(plain)) return [];
    const value = set[plain] === fallback ? undefined : set[plain];
    const line = value === undefined ? `#${plain}=${fallback === "unset" ? "" : fallback}` : `${plain}=${value}`;
    return [
      // Not capitalised: a meaning may begin with a value, which a capital letter would change.
      `# ${meaning}`,
      line,
      ...(file === undefined ? [] : [`#${file}=`]),
      "",
    ];
  });
}

/** The text with another place for the key files, and nothing else changed. */
export function withKeyFile(text: string, authorizedKeysFile: string): string {
  const line = `${KEY_FILE_VARIABLE}=${authorizedKeysFile}`;
  const kept = text.split("\n");
  const places = [new RegExp(`^\\s*${KEY_FILE_VARIABLE}=`), new RegExp(`^#\\s*${KEY_FILE_VARIABLE}=`)];
  // systemd and readEnvironmentFile use the last of several.
  const index = places.map((place) => kept.findLastIndex((candidate) => place.test(candidate))).find((at) => at >= 0);
  if (index === undefined) return `${text.replace(/\n?$/, "\n")}${line}\n`;
  return kept.with(index, line).join("\n");
}
