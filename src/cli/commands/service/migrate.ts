/** uam migrate: brings the database up to date and stops. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";

export const migrateCommand = command("migrate", map(object({}), runMigrate), {
  brief: message`Bring the database up to date and stop.`,
});

function runMigrate(): Command {
  return async (environment) => {
    // Opening the services migrates.
    await withServices(environment, "store", async () => {});
    environment.err("The database is up to date.\n");
    return EXIT.done;
  };
}
