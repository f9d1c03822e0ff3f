/** A file that the service sends, received piece by piece, so that its progress shows and it can be stopped. */

import { LOCALE } from "../../../texts/language.ts";

/** A received file. */
export interface ReceivedFile {
  readonly name: string;
  readonly content: Blob;
}

/** Pieces are handed over in lumps of about this size: the browser may then keep a large file on its disk. */
const LUMP = 8 * 1024 * 1024;

/** The whole file; `onBytes` hears how many bytes there are so far. Throws if the answer ends early. */
export async function receive(response: Response, onBytes: (bytes: number) => void): Promise<ReceivedFile> {
  const done: Blob[] = [];
  let lump: Uint8Array<ArrayBuffer>[] = [];
  let [bytes, waiting] = [0, 0];
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
    lump.push(next.value);
    bytes += next.value.length;
    waiting += next.value.length;
    if (waiting >= LUMP) {
      done.push(new Blob(lump));
      lump = [];
      waiting = 0;
    }
    onBytes(bytes);
  }
  const type = response.headers.get("content-type") ?? "application/octet-stream";
  const name = fileNameOf(response.headers.get("content-disposition") ?? "");
  return { name, content: new Blob([...done, ...lump], { type }) };
}

/** The name that a Content-Disposition gives a file, without any path. */
export function fileNameOf(disposition: string): string {
  const named = /filename="((?:[^"\\]|\\.)*)"|filename=([^;\s]+)/i.exec(disposition);
  const name = (named?.[1] ?? named?.[2] ?? "").replace(/\\(.)/g, "$1").replace(/[^\w .-]/g, "_");
  return name === "" ? "export.csv" : name;
}

/** A number of bytes as people read it, such as "12.3 MB". */
export function bytesText(bytes: number): string {
  const [size, unit] = bytes < 1000 ? [1, "byte"] : bytes < 1e6 ? [1e3, "kilobyte"] : [1e6, "megabyte"];
  return (bytes / size).toLocaleString(LOCALE, {
    ...{ style: "unit", unit, unitDisplay: size === 1 ? "long" : "short" },
    maximumFractionDigits: size === 1e6 ? 1 : 0,
  });
}
