import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAccepted } from "../../../src/host/processes/accepted-line.ts";
import { openLoginLog, parseLogin } from "../../../src/host/processes/login-log.ts";
import { type FakeJournal, startFakeJournal } from "../../support/fake-journal.ts";
import { HANG } from "../../support/hang.ts";

const FINGERPRINT = `SHA256:${"k".repeat(43)}`;
const accepted = (account = "ext_alice", from = "192.0.2.7", fingerprint = FINGERPRINT) =>
  `Accepted publickey for ${account} from ${from} port 40000 ssh2: ED25519 ${fingerprint}`;
const line = (place: number, more: Readonly<Record<string, string>> = {}) => ({
  ...{ _UID: "0", _COMM: "sshd", _EXE: "/usr/sbin/sshd", SYSLOG_IDENTIFIER: "sshd", MESSAGE: accepted() },
  ...{ __CURSOR: `s=1;i=${place}`, __REALTIME_TIMESTAMP: String(1_795_323_427_000_000 + place * 1_000_000) },
  ...more,
});
const at = (place: number) => new Date(1_795_323_427_000 + place * 1000);

let directory: string;
let fake: FakeJournal;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-logins-"));
  fake = startFakeJournal(directory);
});
afterEach(() => {
  fake.close();
  rmSync(directory, { recursive: true });
});

describe("read", () => {
  test("read() reads on from where it was, and finds each login once", async () => {
    const log = openLoginLog(fake.tools);
    fake.add(line(1));
    fake.add(line(2, { MESSAGE: "Connection closed by invalid user x 192.0.2.8 port 1" }));
    const first = await log.read("");
    const login = { account: "ext_alice", from: "192.0.2.7", fingerprint: FINGERPRINT };
    expect(first).toEqual({ logins: [{ ...login, at: at(1) }], next: "s=1;i=2" });
    expect(await log.read(first.next)).toEqual({ logins: [], next: "s=1;i=2" });
    fake.add(
      line(3, { SYSLOG_IDENTIFIER: "sshd-session", _EXE: "/usr/lib/openssh/sshd-session", _COMM: "sshd-session" }),
    );
    expect(await log.read(first.next)).toEqual({ logins: [{ ...login, at: at(3) }], next: "s=1;i=3" });
  });

  test("read() takes at most so many lines at once, and goes on with the next", async () => {
    for (let place = 1; place <= 7; place++) fake.add(line(place));
    const log = openLoginLog(fake.tools, 3);
    const places: number[] = [];
    let next = "";
    for (const expected of [3, 3, 1, 0]) {
      const read = await log.read(next);
      expect(read.logins.length).toBe(expected);
      places.push(...read.logins.map((login) => (login.at.getTime() - at(0).getTime()) / 1000));
      next = read.next;
    }
    expect(places).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test("read() stays within its bounds whatever is printed", async () => {
    const journalctl = join(directory, "endless");
    writeFileSync(journalctl, "#!/bin/sh\nexec yes 'no json at all'\n", { mode: 0o755 });
    const began = performance.now();
    const reader = openLoginLog({ journalctl }, 100);
    expect(await reader.read("s=1")).toEqual({ logins: [], next: "s=1" });
    expect(performance.now() - began).toBeLessThan(HANG);
    writeFileSync(journalctl, "#!/bin/sh\nexec tr '\\0' x < /dev/zero\n", { mode: 0o755 });
    expect(await reader.read("s=1")).toEqual({ logins: [], next: "s=1" });
  });

  test("read() begins anew where the journal does not know the place any more", async () => {
    fake.add(line(8));
    expect((await openLoginLog(fake.tools).read("s=other;i=5")).logins.length).toBe(1);
    expect((await openLoginLog(fake.tools).read("--file=/etc/shadow")).logins.length).toBe(1);
  });

  test("read() finds nothing, and stays where it was, if there is no journal or it fails", async () => {
    for (const journalctl of [join(directory, "absent"), "/usr/bin/false", directory]) {
      expect(await openLoginLog({ journalctl }).read("s=1;i=1")).toMatchObject({ logins: [] });
    }
    expect(await openLoginLog({ journalctl: join(directory, "absent") }).read("s=1")).toEqual({
      logins: [],
      next: "s=1",
    });
  });
});

describe("parseLogin", () => {
  test.each([
    ["a line of the account's owner", { _UID: "40001" }],
    ["a line of another program of root's", { _EXE: "/usr/bin/logger" }],
    ["a line of another program of root's that journald knew only by its name", { _COMM: "logger", _EXE: undefined }],
    ["a program of another name beside sshd", { _EXE: "/home/ext_alice/not-sshd" }],
    ["a line without a sender", { _UID: undefined }],
    ["a line without a time", { __REALTIME_TIMESTAMP: undefined }],
    ["text around it", { MESSAGE: `${accepted()} and more` }],
    ["text before it", { MESSAGE: `x ${accepted()}` }],
    ["a line break", { MESSAGE: `x\n${accepted()}` }],
    ["an account that is not ours", { MESSAGE: accepted("root") }],
    ["a password", { MESSAGE: "Accepted password for ext_alice from 192.0.2.7 port 1 ssh2" }],
    ["bytes", { MESSAGE: [65, 66] }],
  ])("parseLogin() does not believe %s", (_, changed) => {
    expect(parseLogin({ ...line(1), ...changed })).toBeUndefined();
  });

  test("parseLogin() believes sshd where journald was too late for its program's name", () => {
    const { _COMM, _EXE, ...late } = line(1);
    expect(parseLogin(late)).toMatchObject({ account: "ext_alice" });
    expect(parseLogin({ ...line(1), _EXE: "/usr/sbin/sshd (deleted)" })).toMatchObject({ account: "ext_alice" });
  });
});

describe("parseAccepted", () => {
  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["2001:db8::7", "2001:db8::7"],
    ["UNKNOWN", ""],
    ["<script>", ""],
  ])("parseAccepted() takes an address, and nothing else, from %s", (written, from) => {
    expect(parseAccepted(accepted("ext_a-b_c9", written))).toEqual({
      account: "ext_a-b_c9",
      from,
      fingerprint: FINGERPRINT,
    });
  });
});
