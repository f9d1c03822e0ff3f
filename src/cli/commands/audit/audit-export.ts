/** uam audit export: the audit log as CSV, to standard output or into a file. */

import { open, rm } from "node:fs/promises";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { ExportRange } from "../../../domain/audit/csv.ts";
import { UamError } from "../../../shared/errors.ts";
import { periodOptions, textOption } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";

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
    const { exportAudit } = await import("../../../domain/audit/csv.ts");
    const { createExportPlaces } = await import("../../../domain/audit/export-places.ts");
    await withServices(environment, "read", async (context) => {
      const csv = await exportAudit(context, range, createExportPlaces(1));
      await (output === undefined ? environment.outStream(csv) : writeNewFile(output, csv));
    });
    return EXIT.done;
  };
}

/**
 * Writes all of it to a new file of mode 0600, which is on disk on return. Throws `conflict` if a file or link of that name exists,
 * and `invalid` if the file cannot be created; an incomplete file is removed.
 */
export async function writeNewFile(path: string, content: ReadableStream<Uint8Array>): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === "EEXIST"
      ? new UamError("conflict", `${path} exists already; choose another name`)
      : new UamError("invalid", `${path} cannot be written: ${cause.message}`);
  });
  try {
    // Whole chunks or an error: on a full disk write(2) stores a part and returns its size.
    for await (const chunk of content) await file.appendFile(chunk);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
