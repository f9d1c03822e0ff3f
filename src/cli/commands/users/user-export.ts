/** uam user export: users as a file, to standard output or a new file. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { ExportFormat } from "../../../shared/product/export-formats.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { exportOptions, writeOut } from "../../terminal/new-file.ts";
import { filterOf, filterOptions, type GivenFilter } from "./user-list.ts";

/** The command. */
export const exportCommand = command(
  "export",
  map(object({ ...filterOptions(), ...exportOptions() }), (input) => runExport(input)),
  {
    brief: message`Export users as CSV or lines of JSON.`,
    description: message`Writes every user who matches, in the order of the list, as the API's export does. In CSV, text that a spreadsheet would take for a formula begins with an apostrophe. The export is recorded in the audit log.`,
  },
);

interface ExportInput extends GivenFilter {
  readonly format: ExportFormat;
  readonly output: string | undefined;
}

function runExport({ format, output, ...filter }: ExportInput): Command {
  return async (environment) => {
    const { exportUsers } = await import("../../../domain/exports/users.ts");
    const { createExportPlaces } = await import("../../../domain/exports/places.ts");
    const { userFile } = await import("../../../server/listed-user-record.ts");
    await withServices(environment, "read", async (context) => {
      const file = await exportUsers(context, await filterOf(context, filter), userFile(format), createExportPlaces(1));
      await writeOut(environment, output, file);
    });
    return EXIT.done;
  };
}
