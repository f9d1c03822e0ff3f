/** uam openapi: the description of the interface. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { VERSION } from "../../../shared/version.ts";
import { type Command, EXIT, loadConfig } from "../../terminal/environment.ts";
import { webOptionsOf } from "./web-options.ts";

export const openApiCommand = command("openapi", map(object({}), runOpenApi), {
  brief: message`Print the OpenAPI document of the interface.`,
  description: message`Prints the document that GET /api/v1/openapi.json answers with. Needs no database.`,
});

function runOpenApi(): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    const { describeApi } = await import("../../../server/api/app.ts");
    const document = describeApi(webOptionsOf(config, { version: VERSION, runtime: environment.runtime.name }));
    environment.out(`${JSON.stringify(document, null, 2)}\n`);
    return EXIT.done;
  };
}
