/** The vectors in test/testdata/keys: a text, and the expected result. Their README describes how they were made. */

import { readdirSync, readFileSync } from "node:fs";

export interface KeyVector {
  readonly name: string;
  readonly why: string;
  /** Whether ssh-keygen 9.2 accepted the text. */
  readonly sshKeygenAccepts: boolean;
  readonly expected: Expected;
  readonly text: string;
}

export type Expected =
  | { readonly kind: "accepted"; readonly type: string; readonly bits: number; readonly fingerprint: string }
  | { readonly kind: "invalid"; readonly message: string };

const DIRECTORY = new URL("../testdata/keys/", import.meta.url);

/** All vectors, by name. Throws for a file that lacks a part of its header. */
export function keyVectors(): readonly KeyVector[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".txt"))
    .sort()
    .map((file) => parseVector(file.slice(0, -".txt".length), readFileSync(new URL(file, DIRECTORY), "utf8")));
}

/** The text of the accepted vector `name`, without blanks around it. */
export function acceptedKey(name: string): string {
  const found = keyVectors().find((vector) => vector.name === name);
  if (found?.expected.kind !== "accepted") throw new Error(`no accepted vector ${name}`);
  return found.text.trim();
}

function parseVector(name: string, content: string): KeyVector {
  const end = content.indexOf("\n\n");
  const lines = content.slice(0, end).split("\n");
  const field = (key: string): string => {
    const line = lines.find((candidate) => candidate.startsWith(`${key}: `));
    if (line === undefined) throw new Error(`${name}: the header has no ${key}`);
    return line.slice(key.length + 2);
  };
  const expected: Expected =
    field("expect") === "accepted"
      ? { kind: "accepted", type: field("type"), bits: Number(field("bits")), fingerprint: field("fingerprint") }
      : { kind: "invalid", message: field("message") };
  const text = content.slice(end + 2, -1);
  return { name, why: field("why"), sshKeygenAccepts: field("ssh-keygen") === "accepts", expected, text };
}
