/** External users as a file: whoever matches a filter at the call, each as stored when their line is written. */

import type { ExportFormat } from "../../shared/product/export-formats.ts";
import { csvBeginning, csvLine } from "../../shared/text/csv-cell.ts";
import type { Context } from "../operation/context.ts";
import { type ListedUser, matchingIds, readListed, type UserFilter } from "../users/list.ts";
import { exportFile, given } from "./export-file.ts";
import type { ExportPlaces } from "./places.ts";

/** Users who are read at once: a block of the longest possible ones takes about 5 MB. */
const BLOCK = 500;

type Value = string | number | boolean | readonly string[] | null;

/** A user as the file has them: a value for each column. */
export interface UserFile {
  readonly format: ExportFormat;
  readonly columns: readonly string[];
  readonly record: (user: ListedUser, now: Date) => Readonly<Record<string, Value>>;
}

/**
 * The users who match the filter, in its order, as CSV with a header row and a byte order mark, or as lines of JSON; on record, as
 * `exportFile` says. Who is deleted meanwhile is left out. Throws as `listUsers` does.
 */
export async function exportUsers(
  context: Context,
  filter: UserFilter,
  file: UserFile,
  places: ExportPlaces,
): Promise<ReadableStream<Uint8Array>> {
  const { format, columns } = file;
  return await exportFile(context, {
    entry: { action: "user.export", detail: { format, ...wordsOf(filter) } },
    places,
    open: async () => {
      // The ids are all that is kept of a long list.
      const ids = await matchingIds(context, filter);
      const beginning = format === "csv" ? csvBeginning(columns) : "";
      return { beginning: new TextEncoder().encode(beginning), read: readBlocks(context, ids, file) };
    },
  });
}

/** The filter under the names of the API. */
function wordsOf({
  status,
  access,
  supervisor,
  welcome,
  companyId,
  sponsor,
  terms,
  search,
  lastUsed,
  silentFor,
  sort,
}: UserFilter) {
  const others = { company: companyId, sponsor, terms, q: search, last_used: lastUsed, silent_for: silentFor };
  return given({ status, access, supervisor, welcome, ...others, sort });
}

function readBlocks(context: Context, ids: readonly number[], { format, columns, record }: UserFile) {
  const line = format === "csv" ? (values: Values) => userLine(columns, values) : jsonLine;
  let next = 0;
  return async () => {
    while (next < ids.length) {
      const block = ids.slice(next, next + BLOCK);
      next += BLOCK;
      const found = new Map((await readListed(context, block)).map((user) => [user.id, user]));
      const now = context.clock.now();
      const lines = block.map((id) => found.get(id)).map((user) => (user === undefined ? "" : line(record(user, now))));
      const text = lines.join("");
      if (text !== "") return new TextEncoder().encode(text);
    }
    return undefined;
  };
}

type Values = Readonly<Record<string, Value>>;

/** A list is its entries with a space between them; what is missing is empty. */
function userLine(columns: readonly string[], values: Values): string {
  return csvLine(
    columns.map((name) => {
      const value = values[name] ?? "";
      return typeof value === "object" ? value.join(" ") : String(value);
    }),
  );
}

function jsonLine(values: Values): string {
  return `${JSON.stringify(values)}\n`;
}
