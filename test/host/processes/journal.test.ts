import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openJournal, parseJournal } from "../../../src/host/processes/journal.ts";
import { type FakeJournal, startFakeJournal } from "../../support/fake-journal.ts";

const EARLIER = "a".repeat(32);
const connection = { pid: 500, parent: 1, uids: [0, 0, 0, 0] };
const said = (MESSAGE: string, more: Readonly<Record<string, string>> = {}) => ({
  ...{ _PID: "500", _UID: "0", __MONOTONIC_TIMESTAMP: "99000000", MESSAGE },
  ...more,
});

let directory: string;
let fake: FakeJournal | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-journal-"));
});
afterEach(() => {
  fake?.close();
  fake = undefined;
  rmSync(directory, { recursive: true });
});

describe("entriesOf", () => {
  test("entriesOf() does not take a line of an earlier boot for one of this boot, whatever its pid and time", async () => {
    fake = startFakeJournal(directory);
    for (const entry of [
      said("in an earlier boot", { _BOOT_ID: EARLIER }),
      said("in this one"),
      said("another process's", { _PID: "501" }),
      said("a user's", { _UID: "1000" }),
    ]) {
      fake.add(entry);
    }
    const journal = openJournal(fake.tools);
    const entries = [{ pid: 500, uid: 0, monotonic: 99_000_000, message: "in this one" }];
    expect(await journal.entriesOf([connection])).toEqual(entries);
    expect(await journal.entriesOf([connection])).toEqual(entries);
    // Asked for once: the boot does not change while the process runs.
    expect(fake.written).toEqual([expect.stringMatching(/^uam asks which boot this is: [0-9a-f]{32}$/)]);
  });

  test("entriesOf() returns nothing if the line that tells the boot is not root's", async () => {
    fake = startFakeJournal(directory, "1000");
    fake.add(said("in this boot"));
    expect(await openJournal(fake.tools, 300).entriesOf([connection])).toEqual([]);
  });

  test("entriesOf() returns nothing if no journal accepts a line, or none can be read", async () => {
    fake = startFakeJournal(directory);
    fake.add(said("in this boot"));
    const { tools } = fake;
    for (const broken of [
      { ...tools, journalStream: join(directory, "absent") },
      { ...tools, journalctl: join(directory, "absent") },
      { ...tools, journalctl: "/usr/bin/false" },
    ]) {
      expect(await openJournal(broken, 300).entriesOf([connection])).toEqual([]);
    }
  });
});

describe("parseJournal", () => {
  test("parseJournal() reads the fields that journald attests", () => {
    const fields = { _PID: "500", _UID: "0", __MONOTONIC_TIMESTAMP: "10000500", MESSAGE: "hello" };
    const lines = [
      JSON.stringify(fields),
      "",
      "no json",
      JSON.stringify({ ...fields, MESSAGE: [104] }),
      JSON.stringify({ MESSAGE: "x" }),
    ];
    expect(parseJournal(lines.join("\n"))).toEqual([{ pid: 500, uid: 0, monotonic: 10_000_500, message: "hello" }]);
  });
});
