/** The certificates that are believed: those that root put into the directory, as they are now. */

import { beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readIssuers } from "../../../src/host/profiles/attestation-issuers.ts";
import { makeAuthority } from "../../support/attestation.ts";

const [one, other] = [makeAuthority("One"), makeAuthority("Other")];
let base: string;
let directory: string;
let left: string[];

beforeEach(() => {
  base = mkdtempSync("/tmp/uam-issuers-");
  directory = join(base, "attestation.d");
  left = [];
});

const pem = ({ certificate }: typeof one) => certificate.toString();
const names = () =>
  readIssuers({ warn: (_, fields) => left.push(String(fields?.file).slice(directory.length + 1)) }, directory)
    .map(({ subject }) => subject.replace("CN=", ""))
    .sort();

test("none where there is no directory, and all that its files have, also several of one file", () => {
  expect(names()).toEqual([]);
  mkdirSync(directory, { mode: 0o755 });
  expect(names()).toEqual([]);
  writeFileSync(join(directory, "makers.pem"), `One of them:\n${pem(one)}\n${pem(other)}`, { mode: 0o644 });
  expect(names()).toEqual(["One", "Other"]);
  rmSync(join(directory, "makers.pem"));
  writeFileSync(join(directory, "other.pem"), pem(other), { mode: 0o644 });
  writeFileSync(join(directory, "one.pem.off"), pem(one), { mode: 0o644 });
  expect([names(), left]).toEqual([["Other"], []]);
  rmSync(base, { recursive: true });
});

test("a file that others can write, or that has no certificate, is left out, and the log says which", () => {
  mkdirSync(directory, { mode: 0o755 });
  writeFileSync(join(directory, "a.pem"), pem(one), { mode: 0o644 });
  writeFileSync(join(directory, "b.pem"), pem(other));
  chmodSync(join(directory, "b.pem"), 0o666);
  writeFileSync(join(directory, "c.pem"), "nothing", { mode: 0o644 });
  writeFileSync(join(directory, "d.pem"), pem(other).replace(/.{8}\n-----END/, "AAAAAAA\n-----END"), { mode: 0o644 });
  writeFileSync(join(directory, "e.pem"), pem(other), { mode: 0o644 });
  truncateSync(join(directory, "e.pem"), 300_000);
  mkdirSync(join(directory, "f.pem"));
  symlinkSync("/nonexistent", join(directory, "g.pem"));
  expect([names(), left.sort()]).toEqual([["One"], ["b.pem", "c.pem", "d.pem", "e.pem", "f.pem", "g.pem"]]);
  rmSync(base, { recursive: true });
});

test("nobody is believed where others can write the directory", () => {
  mkdirSync(directory, { mode: 0o755 });
  writeFileSync(join(directory, "a.pem"), pem(one), { mode: 0o644 });
  chmodSync(directory, 0o777);
  expect(names).toThrow("is writable by users other than its owner");
  rmSync(base, { recursive: true });
});
