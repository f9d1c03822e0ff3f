/** ICU's data without its languages: of 26 MB the server needs only what initdb reads. */

/**
 * The items that stay: initdb asks for the version of the collation "unicode", which every cluster lists. Nothing else
 * uses ICU, since the databases here have PostgreSQL's builtin locale.
 */
const NEEDED: readonly string[] = ["coll/root.res", "coll/ucadata.icu"];

/** `UDataInfo.dataFormat` of a package of items (ICU's unicode/udata.h); it is 12 bytes into the package's header. */
const PACKAGE = Buffer.from("CmnD");
const INTO_HEADER = 12;

/**
 * The same library (libicudata) with the contents of all other items set to zero, so that it compresses to nothing; it keeps
 * its size and symbols. Asked for another language, ICU reports that its file has the wrong format. Throws if the library is
 * not built as expected.
 */
export function withoutLanguages(library: Uint8Array): Uint8Array {
  const copy = Buffer.from(library);
  const start = copy.indexOf(PACKAGE) - INTO_HEADER;
  if (start < 0) throw new Error("The library contains no package of ICU data.");
  const items = itemsOf(copy, start + copy.readUInt16LE(start));
  for (const name of NEEDED) {
    if (!items.some((item) => item.name === name)) throw new Error(`The package of ICU data has no ${name}.`);
  }
  // The package does not say where the last item ends: it stays.
  for (const [index, { name, at }] of items.slice(0, -1).entries()) {
    if (!NEEDED.includes(name)) copy.fill(0, at, items[index + 1]?.at);
  }
  return copy;
}

interface Item {
  /** Without the package's name, `icudt60l/`. */
  readonly name: string;
  readonly at: number;
}

/** The table of contents: a count, and for each item where its name and its data begin, from the table on. */
function itemsOf(data: Buffer, table: number): readonly Item[] {
  const items = Array.from({ length: data.readUInt32LE(table) }, (_, index) => {
    const entry = table + 4 + 8 * index;
    const name = table + data.readUInt32LE(entry);
    const path = data.toString("latin1", name, data.indexOf(0, name));
    return { name: path.slice(path.indexOf("/") + 1), at: table + data.readUInt32LE(entry + 4) };
  });
  return items.sort((one, other) => one.at - other.at);
}
