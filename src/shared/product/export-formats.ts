/** The formats of exports. */

export const EXPORT_FORMATS = ["csv", "jsonl"] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The media type of a file of each format. */
export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = { csv: "text/csv", jsonl: "application/jsonl" };
