/** uam healthcheck: whether the service answers where it is configured to listen. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, withDefault } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { SECOND } from "../../../shared/time/clock.ts";
import { duration } from "../../terminal/arguments.ts";
import { type Command, EXIT, loadConfig } from "../../terminal/environment.ts";
import { askService } from "./ask-service.ts";

const PAUSE = SECOND / 4;

export const healthcheckCommand = command(
  "healthcheck",
  map(
    object({
      wait: withDefault(
        option("--wait", duration(), { description: message`Keep trying for this long, such as 30s.` }),
        0,
      ),
    }),
    ({ wait }) => runHealthcheck(wait),
  ),
  {
    brief: message`Exit 0 if the service answers.`,
    description: message`Asks the service at the address in UAM_LISTEN, over https if UAM_TLS_CERT is set. For containers and units.`,
  },
);

function runHealthcheck(wait: number): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    const { formatListen } = await import("../../../config/listen.ts");
    const deadline = performance.now() + wait;
    for (;;) {
      const problem = await askService(config);
      if (problem === undefined) return EXIT.done;
      if (performance.now() + PAUSE > deadline) {
        environment.err(`uam: The service does not answer at ${formatListen(config.listen)}: ${problem}.\n`);
        return EXIT.failed;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  };
}
