/** uam version: version, runtime and commit. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { COMMIT, VERSION } from "../../../shared/version.ts";
import { type Command, EXIT } from "../../terminal/environment.ts";

export const versionCommand = command("version", map(object({}), runVersion), {
  brief: message`Print the version, runtime and commit.`,
});

function runVersion(): Command {
  return async (environment) => {
    environment.out(`uam ${VERSION}, ${environment.runtime.name}, commit ${COMMIT}\n`);
    return EXIT.done;
  };
}
