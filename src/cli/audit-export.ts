/** uam audit export: the audit log as CSV, to standard output or into a file. */

import { open, rm } from "node:fs/promises";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { ExportRange } from "../audit/csv.ts";
import { UamError } from "../core/errors.ts";
import { createSlots } from "../core/slots.ts";
import { periodOptions, textOption } from "./arguments.ts";
import { type Command, EXIT, withServices } from "./environment.ts";

export const exportCommand = command(
  "export",
  map(
    object({
      ...periodOptions(),
      output: textOption("--output", "FILE", message`Write a new file of mode 0600 there.`),
    }),
    ({ output, ...range }) => runExport(range, output),
  ),
  {
    brief: message`Export the audit log as CSV, oldest first.`,
    description: message`Writes what the API's export holds to standard output, or into a file, which must not exist yet.`,
  },
);

function runExport(range: ExportRange, output: string | undefined): Command {
  return async (environment) => {
    const { exportAudit } = await import("../audit/csv.ts");
    await withServices(environment, "read", async (context) => {
      const csv = await exportAudit(context, range, createSlots(1, "One export at a time", 1));
      await (output === undefined ? environment.outStream(csv) : writeNewFile(output, csv));
    });
    return EXIT.done;
  };
}

/** Never over a file or through a link that is there; nothing is left of an export that broke off. */
async function writeNewFile(path: string, content: ReadableStream<Uint8Array>): Promise<void> {
  try {
    await using file = await open(path, "wx", 0o600);
    for await (const chunk of content) await file.write(chunk);
    await file.sync();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") throw new UamError("conflict", `${path} exists already; choose another name`);
    if (code === "ENOENT" || code === "EACCES" || code === "EISDIR" || code === "ENOTDIR") {
      throw new UamError("invalid", `${path} cannot be written: ${(error as Error).message}`);
    }
    await rm(path, { force: true });
    throw error;
  }
}
