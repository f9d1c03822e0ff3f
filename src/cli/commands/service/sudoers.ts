/** uam sudoers: the rules that sudo mode needs. */

import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, withDefault } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Config } from "../../../config/config.ts";
import { MARKER_GROUP } from "../../../host/settings.ts";
import { AGENT_ENVIRONMENT_FILE, SERVICE_ACCOUNT } from "../../../install/settings.ts";
import { UamError } from "../../../shared/errors.ts";
import { OLD_UIDS } from "../../../shared/system/uids.ts";
import { type Command, EXIT, loadConfig } from "../../terminal/environment.ts";

const options = object({
  user: withDefault(
    option("--user", string({ metavar: "USER" }), {
      description: message`The system user that the service runs as.`,
    }),
    SERVICE_ACCOUNT,
  ),
});

export const sudoersCommand = command("sudoers", map(options, runSudoers), {
  brief: message`Print the sudoers file for UAM_HOST_MODE=sudo.`,
  description: message`Made from the configuration in the environment. Check it with "visudo -cf", then install it as /etc/sudoers.d/uam, owned by root, mode 0440.`,
});

function runSudoers({ user }: { readonly user: string }): Command {
  return async (environment) => {
    if (environment.program !== undefined) requireRootsAlone(environment.program);
    environment.out(await sudoersOf(await loadConfig(environment), environment.runtime.program, { user }));
    return EXIT.done;
  };
}

/** Whom the rules are for. */
interface SudoersFor {
  readonly user?: string;
  readonly isAgent?: boolean;
}

/** The sudoers file for the configuration and the program, with the paths that commands have on this host. */
export async function sudoersOf(
  config: Config,
  program: readonly string[],
  { user = SERVICE_ACCOUNT, isAgent = existsSync(AGENT_ENVIRONMENT_FILE) }: SudoersFor = {},
): Promise<string> {
  const { renderSudoers } = await import("../../../install/sudoers.ts");
  const { hasOldAccounts } = await import("../../../install/uids.ts");
  const { findCommand } = await import("../../../host/command.ts");
  const locate = (path: string) => findCommand(path) ?? path;
  // An agent's host gets accounts that its service may have made long ago.
  const oldUids = isAgent || hasOldAccounts(config.uidRange) ? OLD_UIDS : undefined;
  return renderSudoers({ ...config, user, program, markerGroup: MARKER_GROUP, locate, oldUids });
}

/** Throws `invalid` if anyone but root could replace the program: these rules run it as root. */
export function requireRootsAlone(path: string): void {
  for (let part = realpathSync(path); ; part = dirname(part)) {
    const { uid, mode } = statSync(part);
    // In a sticky directory such as /tmp nobody but root can replace what is root's.
    const isSticky = part !== path && (mode & 0o1000) !== 0;
    if (uid !== 0 || ((mode & 0o022) !== 0 && !isSticky)) {
      throw new UamError(
        "invalid",
        `Users other than root can change ${part}, and root would run ${path}: put the program where only root can write, as uam install does`,
      );
    }
    if (part === "/") return;
  }
}
