/** Answers with an export, as a file in the format that was asked for. */

import type { Context } from "../../../domain/operation/context.ts";
import { UamError } from "../../../shared/errors.ts";
import { EXPORT_FORMATS, type ExportFormat, MEDIA_TYPES } from "../../../shared/product/export-formats.ts";
import { infoOf } from "../http/request.ts";

interface Asked {
  readonly request: Request;
  readonly context: Context;
  readonly query: { readonly format?: ExportFormat | undefined };
}

/**
 * The file as an attachment named after the day; of HEAD only its headers. Throws `invalid` for two formats at once, and what `make`
 * throws.
 */
export async function answerFile(
  { request, context, query }: Asked,
  name: string,
  make: (format: ExportFormat) => Promise<ReadableStream<Uint8Array>>,
): Promise<Response> {
  const format = formatOf(query.format, request.headers.get("accept") ?? "");
  const headers = headersOf(format, `${name}-${context.clock.now().toISOString().slice(0, 10)}`);
  if (request.method === "HEAD") return new Response(null, { headers });
  const file = await make(format);
  // It waits for the database and for its reader while it is written.
  infoOf(request).hold(0);
  return new Response(file, { headers });
}

/** Whether the client names CSV among what it takes. */
export function wantsCsv(request: Request): boolean {
  return formatsIn(request.headers.get("accept") ?? "").includes("csv");
}

/** A file that is short enough to be made at once. */
export function csvFile(request: Request, name: string, content: string): Response {
  return new Response(request.method === "HEAD" ? null : content, { headers: headersOf("csv", name) });
}

function headersOf(format: ExportFormat, name: string) {
  return {
    "content-type": `${MEDIA_TYPES[format]}; charset=utf-8`,
    "content-disposition": `attachment; filename="${name}.${format}"`,
  };
}

/** The media types that clients ask for a format by; JSON lines have more than one name. */
const ACCEPTED: Readonly<Record<ExportFormat, readonly string[]>> = {
  csv: [MEDIA_TYPES.csv],
  jsonl: [MEDIA_TYPES.jsonl, "application/x-ndjson", "application/ndjson", "application/x-jsonlines"],
};

/** `Accept` counts as far as it names a format: programs send all kinds of it without a thought. */
function formatOf(given: ExportFormat | undefined, accept: string): ExportFormat {
  const types = typesIn(accept);
  const named = formatsIn(accept);
  const takesAll = types.some((type) => /^(?:\*|text|application)\/\*$/.test(type));
  if (given === undefined) return named.length === 1 && named[0] !== undefined ? named[0] : "csv";
  if (named.length > 0 && !named.includes(given) && !takesAll) {
    throw new UamError(
      "invalid",
      `format=${given} and Accept: ${named[0] && MEDIA_TYPES[named[0]]} ask for two formats; send one`,
    );
  }
  return given;
}

function typesIn(accept: string): readonly string[] {
  return accept.split(",").map((range) => (range.split(";")[0] ?? "").trim().toLowerCase());
}

function formatsIn(accept: string): readonly ExportFormat[] {
  const types = typesIn(accept);
  return EXPORT_FORMATS.filter((format) => ACCEPTED[format].some((type) => types.includes(type)));
}
