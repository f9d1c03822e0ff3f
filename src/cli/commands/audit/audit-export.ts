/** uam audit export: the audit log as a file, to standard output or a new file. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { ExportFormat } from "../../../shared/product/export-formats.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { exportOptions, writeOut } from "../../terminal/new-file.ts";
import { filterOf, filterOptions, type GivenFilter } from "./audit-filter.ts";

export const exportCommand = command(
  "export",
  map(object({ ...filterOptions(), ...exportOptions() }), (input) => runExport(input)),
  {
    brief: message`Export the audit log as CSV or lines of JSON, oldest first.`,
    description: message`Writes every record that matches, as the API's export does. With --user, that is the whole trail of a person. In CSV, text that a spreadsheet would take for a formula begins with an apostrophe. The export is recorded in the audit log.`,
  },
);

interface ExportInput extends GivenFilter {
  readonly format: ExportFormat;
  readonly output: string | undefined;
}

function runExport({ format, output, ...given }: ExportInput): Command {
  return async (environment) => {
    const { exportAudit } = await import("../../../domain/exports/audit.ts");
    const { createExportPlaces } = await import("../../../domain/exports/places.ts");
    await withServices(environment, "read", async (context) => {
      const filter = await filterOf(context, given);
      const file = await exportAudit(context, filter, { format, places: createExportPlaces(1) });
      await writeOut(environment, output, file);
    });
    return EXIT.done;
  };
}
