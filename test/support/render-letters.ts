/**
 * Writes every mail into a directory, to be looked at in a browser and a terminal: `bun test/support/render-letters.ts DIRECTORY`.
 * Each as HTML and text, with pages and without, and to a user whose texts are long, hostile and written from right to left.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Letter } from "../../src/domain/mail/letter.ts";
import { adminReset, oneTimeCode } from "../../src/domain/mail/messages.ts";
import { LETTERS, SITE, WITHOUT_PAGES } from "./letters.ts";

const HOSTILE = `<b>x</b>"&amp; \u202eevil\u2066 שלום עולם مرحبا ${"verylongword".repeat(12)} https://evil.example/ 中文字 🎉`;

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("Usage: bun test/support/render-letters.ts DIRECTORY");
  process.exit(2);
}
mkdirSync(directory, { recursive: true });
const contact = { ...SITE, contact: "help@example.org" };
for (const [kind, site, value] of [
  ["pages", contact, "alice"],
  ["without", WITHOUT_PAGES, "alice"],
  ["hostile", SITE, HOSTILE],
] as const) {
  for (const { name, make } of LETTERS) write(`${kind}-${name.replace(/\W+/g, "-")}`, make(site, value));
}
// What is secret, as long as it really is.
write("real-code", oneTimeCode(contact, { username: "alice", oneTime: "01234567", ttl: 600_000 }));
write("real-reset", adminReset(contact, { username: "root", token: "t0Ken_-".repeat(7).slice(6), ttl: 1_800_000 }));

function write(name: string, { subject, text, html }: Letter): void {
  const file = join(directory ?? "", name);
  writeFileSync(`${file}.html`, html);
  writeFileSync(`${file}.txt`, `Subject: ${subject}\n\n${text}`);
}
