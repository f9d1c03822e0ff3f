/** uam config: the configuration in force. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { jsonFlag } from "../../terminal/arguments.ts";
import { type Command, EXIT, loadConfig } from "../../terminal/environment.ts";
import { printJson, visible } from "../../terminal/output.ts";

export const configCommand = command(
  "config",
  map(object({ json: jsonFlag() }), (input) => runConfig(input)),
  {
    brief: message`Print the configuration in force, without secrets.`,
    description: message`Prints each variable with its value, in the form in which it can be set; for a secret, only that it is set. If the configuration has faults, lists them all and exits 78. uam serve --help explains the variables.`,
  },
);

function runConfig({ json }: { readonly json: boolean }): Command {
  return async (environment) => {
    const { describeConfig } = await import("../../../config/config.ts");
    const values = describeConfig(await loadConfig(environment));
    if (json) {
      printJson(environment, values);
      return EXIT.done;
    }
    for (const [name, value] of Object.entries(values)) {
      environment.out(value === null ? `# ${name} is unset\n` : `${name}=${visible(value)}\n`);
    }
    return EXIT.done;
  };
}
