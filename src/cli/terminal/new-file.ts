/** Files that commands make. */

import { open, rm } from "node:fs/promises";
import { message } from "@optique/core/message";
import { withDefault } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import { UamError } from "../../shared/errors.ts";
import { EXPORT_FORMATS } from "../../shared/product/export-formats.ts";
import { oneOf, textOption } from "./arguments.ts";
import type { CliEnvironment } from "./environment.ts";

/** `--format` and `--output` of an export. */
export function exportOptions() {
  return {
    format: withDefault(
      option("--format", oneOf(EXPORT_FORMATS, "FORMAT"), {
        description: message`csv, or jsonl for lines of JSON in the shape of the API's records; the default is csv.`,
      }),
      "csv",
    ),
    output: textOption("--output", "FILE", message`Write to this new file, which only you can read.`),
  };
}

/** Writes the content to standard output, or to a new file as `writeNewFile` does. */
export async function writeOut(
  environment: CliEnvironment,
  output: string | undefined,
  content: ReadableStream<Uint8Array>,
): Promise<void> {
  await (output === undefined ? environment.outStream(content) : writeNewFile(output, content));
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
