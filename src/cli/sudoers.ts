/** uam sudoers: the rules that sudo mode needs. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, withDefault } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Config } from "../config/config.ts";
import { MARKER_GROUP } from "../host/settings.ts";
import { SERVICE_ACCOUNT } from "../install/settings.ts";
import { type Command, EXIT, loadConfig } from "./environment.ts";

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
    environment.out(await sudoersOf(await loadConfig(environment), environment.runtime.program, user));
    return EXIT.done;
  };
}

/** The sudoers file for the configuration and the program, with commands where this host has them. */
export async function sudoersOf(
  config: Config,
  program: readonly string[],
  user: string = SERVICE_ACCOUNT,
): Promise<string> {
  const { renderSudoers } = await import("../install/sudoers.ts");
  const { findCommand } = await import("../host/execute/command.ts");
  const locate = (path: string) => findCommand(path) ?? path;
  return renderSudoers({ ...config, user, program, markerGroup: MARKER_GROUP, locate });
}
