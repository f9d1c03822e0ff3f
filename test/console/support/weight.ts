/** What a browser loads of the console, in bytes as they travel: compressed with brotli. */

import { gunzipSync } from "node:zlib";
import type { ConsoleBundle } from "../../../src/server/console/carried.ts";

/** Besides the first script, what somebody loads who applies for access and later logs in: pages, and the work that replaces the captcha. */
const FIRST_VISIT = /^(?:apply|login|proof)-[^-]+\.js$/;

/** The most that each may weigh, in bytes. */
export const BUDGET = { firstVisit: 30_000, scripts: 80_000, styles: 12_000 } as const;

/** The bundle's weight. */
export function weigh(bundle: ConsoleBundle): Readonly<Record<keyof typeof BUDGET, number>> {
  const names = Object.keys(bundle.files);
  const scripts = names.filter((name) => name.endsWith(".js"));
  const size = (list: Iterable<string>) => [...list].reduce((sum, name) => sum + bytesOf(bundle, name), 0);
  return {
    firstVisit: size(loadedAtFirst(bundle)),
    scripts: size(scripts),
    styles: size(names.filter((name) => name.endsWith(".css"))),
  };
}

/** The scripts of a first visit, and all that they import at once. */
function loadedAtFirst(bundle: ConsoleBundle): ReadonlySet<string> {
  const [, entry = ""] = /<script type="module" src="[^"]*\/([^/"]+)"/.exec(bundle.page) ?? [];
  const waiting = [entry, ...Object.keys(bundle.files).filter((name) => FIRST_VISIT.test(name))];
  const loaded = new Set<string>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (loaded.has(next)) continue;
    loaded.add(next);
    for (const [, imported = ""] of textOf(bundle, next).matchAll(/(?:from|import)\s*"[^"]*\/([^/"]+\.js)"/g)) {
      waiting.push(imported);
    }
  }
  return loaded;
}

function bytesOf({ files }: ConsoleBundle, name: string): number {
  return Buffer.from(files[name]?.br ?? "", "base64").byteLength;
}

function textOf({ files }: ConsoleBundle, name: string): string {
  return gunzipSync(Buffer.from(files[name]?.gzip ?? "", "base64")).toString();
}
