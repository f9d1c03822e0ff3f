/** uam version: version, runtime and commit, and what the program carries. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { COMMIT, VERSION } from "../../../shared/version.ts";
import { type Command, EXIT } from "../../terminal/environment.ts";

export const versionCommand = command(
  "version",
  map(
    object({
      json: option("--json", {
        description: message`Print it as JSON, with the PostgreSQL and everything else that is carried: versions, checksums and CPE.`,
      }),
    }),
    ({ json }) => runVersion(json),
  ),
  { brief: message`Print the version, runtime and commit.` },
);

function runVersion(json: boolean): Command {
  return async (environment) => {
    const runtime = environment.runtime.name;
    if (json) {
      const { carriedComponents } = await import("./carried.ts");
      const { broughtPostgres } = await import("../../../store/postgres/postgres-brought.ts");
      const report = {
        ...{ version: VERSION, runtime, commit: COMMIT, postgresql: broughtPostgres() },
        components: carriedComponents,
      };
      environment.out(`${JSON.stringify(report, null, 2)}\n`);
    } else environment.out(`uam ${VERSION}, ${runtime}, commit ${COMMIT}\n`);
    return EXIT.done;
  };
}
