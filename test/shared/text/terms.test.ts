import { afterAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_TERMS, termsIn } from "../../../src/shared/text/terms.ts";

const directory = mkdtempSync(join(tmpdir(), "uam-terms-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(content: string | Uint8Array): string {
  const path = join(directory, "terms.txt");
  writeFileSync(path, content);
  return path;
}

test("termsIn() reads the file once; its version is its SHA-256", () => {
  const text = "Bedingungen für die Nutzung\n";
  const terms = termsIn(file(text));
  expect(terms()).toEqual({ version: createHash("sha256").update(text).digest("hex"), text });
  file("others");
  expect(terms()?.text).toBe(text);
  expect(termsIn(undefined)()).toBeUndefined();
});

test.each([
  ["a directory", directory, "cannot be read"],
  ["nothing", join(directory, "none"), "cannot be read: ENOENT"],
  ["a device without an end", "/dev/zero", "more than 64 KiB"],
])("termsIn() refuses %s", (_, path, why) => expect(termsIn(path)).toThrow(why));

test.each([
  ["an empty text", " \n", "is empty"],
  ["bytes that are no text", new Uint8Array([0xff, 0xfe, 0]), "not a text in UTF-8"],
  ["more than anybody reads", "x".repeat(MAX_TERMS + 1), "more than 64 KiB"],
])("termsIn() refuses %s", (_, content, why) => expect(termsIn(file(content))).toThrow(why));
