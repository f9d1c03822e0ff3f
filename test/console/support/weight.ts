/** What a browser loads of the console, in bytes as they travel: compressed with brotli. */

import { brotliDecompressSync } from "node:zlib";
import type { ConsoleBundle } from "../../../src/server/console/carried.ts";

/** Besides the first script, what somebody loads who applies for access and later logs in: what sends these, and the captcha's other way. */
const FIRST_VISIT = ['"POST /approvals"', '"POST /auth/otp/login"', '"POST /auth/otp/send"'];

/** The most that each may weigh, in bytes. Scripts: raised by 16 KiB for the pages of companies, managers, reviews, sponsors, imports, terms and access on request, by 8 KiB for hours, by 2 KiB for profiles, by 2 KiB for undoing what was done to several, withdrawn requests and the next review, by 3 KiB for past access, and by 1.5 KiB for the proof of the make of security keys. */
export const BUDGET = { firstVisit: 30_000, scripts: 146.5 * 1024, styles: 12_000 } as const;

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
  const waiting = [entry, ...Object.keys(bundle.files).filter((name) => isOfFirstVisit(bundle, name))];
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

function isOfFirstVisit(bundle: ConsoleBundle, name: string): boolean {
  if (!name.endsWith(".js")) return false;
  const text = textOf(bundle, name);
  return FIRST_VISIT.some((part) => text.includes(part)) || name.startsWith("proof-");
}

function bytesOf({ files }: ConsoleBundle, name: string): number {
  return Buffer.from(files[name]?.br ?? "", "base64").byteLength;
}

function textOf({ files }: ConsoleBundle, name: string): string {
  return brotliDecompressSync(Buffer.from(files[name]?.br ?? "", "base64")).toString();
}
