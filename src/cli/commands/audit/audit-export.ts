/** uam audit export: the audit log as a file, to standard output or a new file. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { ExportRange } from "../../../domain/exports/audit.ts";
import { periodOptions, textOption } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { writeOut } from "../../terminal/new-file.ts";

export const exportCommand = command(
  "export",
  map(
    object({
      ...periodOptions(),
      output: textOption("--output", "FILE", message`Write to this new file, which only you can read.`),
    }),
    ({ output, ...range }) => runExport(range, output),
  ),
  {
    brief: message`Export the audit log as CSV, oldest first.`,
    description: message`Writes the same CSV as the API's export, to standard output or to a new file.`,
  },
);

function runExport(range: ExportRange, output: string | undefined): Command {
  return async (environment) => {
    const { exportAudit } = await import("../../../domain/exports/audit.ts");
    const { createExportPlaces } = await import("../../../domain/exports/places.ts");
    await withServices(environment, "read", async (context) => {
      const csv = await exportAudit(context, range, createExportPlaces(1));
      await writeOut(environment, output, csv);
    });
    return EXIT.done;
  };
}
