import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gather, openRefusalLog, refusalOf } from "../../../src/host/processes/refused-logins.ts";
import { type FakeJournal, startFakeJournal, THIS_BOOT } from "../../support/fake-journal.ts";

const NAME = "ext_alice";
const FROM = "from 192.0.2.7 port 50022";

describe("refusalOf()", () => {
  test.each([
    [`Connection closed by authenticating user ${NAME} 192.0.2.7 port 50022 [preauth]`, "192.0.2.7"],
    [`Connection reset by authenticating user ${NAME} 2001:db8::7 port 50022 [preauth]`, "2001:db8::7"],
    [`Disconnected from authenticating user ${NAME} 192.0.2.7 port 50022 [preauth]`, "192.0.2.7"],
    [
      `Disconnecting authenticating user ${NAME} 192.0.2.7 port 50022: Too many authentication failures [preauth]`,
      "192.0.2.7",
    ],
    [`Connection closed by invalid user ${NAME} 192.0.2.7 port 50022 [preauth]`, "192.0.2.7"],
    [`Invalid user ${NAME} ${FROM}`, "192.0.2.7"],
    [`User ${NAME} from 192.0.2.7 not allowed because not listed in AllowUsers`, "192.0.2.7"],
    [`User ${NAME} from some.example.org not allowed because listed in DenyUsers`, ""],
    [`User ${NAME} not allowed because shell /bin/none does not exist`, ""],
    [`Failed publickey for ${NAME} ${FROM} ssh2: ED25519 SHA256:${"a".repeat(43)}`, "192.0.2.7"],
    [`Failed password for invalid user ${NAME} ${FROM} ssh2`, "192.0.2.7"],
    [`error: maximum authentication attempts exceeded for ${NAME} ${FROM} ssh2 [preauth]`, "192.0.2.7"],
    [
      `Authentication tried for ${NAME} with correct key but not from a permitted host (host=192.0.2.7, ip=192.0.2.7, required=10.0.0.0/8).`,
      "192.0.2.7",
    ],
    [`fatal: Access denied for user ${NAME} by PAM account configuration [preauth]`, ""],
  ])("%s", (message, from) => {
    expect(refusalOf(NAME)(message)).toBe(from);
  });

  test.each([
    `Accepted publickey for ${NAME} ${FROM} ssh2: ED25519 SHA256:${"a".repeat(43)}`,
    `Disconnected from user ${NAME} 192.0.2.7 port 50022`,
    `Connection closed by authenticating user ${NAME}2 192.0.2.7 port 50022 [preauth]`,
    // Names that no account has, and that a stranger chose.
    `Invalid user ${NAME} from 192.0.2.66 port 1 from 192.0.2.7 port 50022`,
    `Failed password for invalid user ${NAME} from 192.0.2.66 port 1 ssh2: x from 192.0.2.7 port 50022 ssh2`,
    `Failed publickey for invalid user ${NAME} from 192.0.2.66 port 1 ssh2: ED25519 SHA256:${"a".repeat(43)} ${FROM} ssh2: ED25519 SHA256:${"b".repeat(43)}`,
    `Connection closed by invalid user ${NAME} 192.0.2.66 port 1: x 192.0.2.7 port 50022 [preauth]`,
    `Connection closed by invalid user x\\nConnection closed by authenticating user ${NAME} 192.0.2.7 port 5 [preauth]`,
  ])("is undefined for %s", (message) => {
    expect(refusalOf(NAME)(message)).toBeUndefined();
  });
});

describe("gather()", () => {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 8, 0, second));
  const closed = `Connection closed by authenticating user ${NAME} 192.0.2.7 port 50022 [preauth]`;

  test("quotes all that sshd said on a connection, in its order, and nothing of others", () => {
    const found = gather(NAME);
    found.add({ at: at(3), connection: "b 7", message: closed });
    found.add({ at: at(2), connection: "b 8", message: "Invalid user root2 from 192.0.2.8 port 1" });
    found.add({ at: at(1), connection: "b 7", message: "Authentication refused: bad ownership or modes for file /x" });
    expect(found.refusals()).toEqual([
      { at: at(3), from: "192.0.2.7", why: `Authentication refused: bad ownership or modes for file /x; ${closed}` },
    ]);
  });

  test("leaves out what sshd says of the drop-in's own settings, which refuses nobody", () => {
    const recorded = readFileSync(join(import.meta.dir, "../../testdata/sshd/other-key-9.2.txt"), "utf8");
    const lines = [...recorded.matchAll(/^sshd\[(\d+)\]: (.+)$/gm)];
    expect(lines.filter(([line]) => line.includes("AuthorizedKeysCommand"))).toHaveLength(6);
    const found = gather(NAME);
    for (const [, connection = "", message = ""] of lines.toReversed()) found.add({ at: at(3), connection, message });
    expect(found.refusals().map(({ why }) => why)).toEqual(
      [57142, 57130, 57114, 57102].map(
        (port) => `Connection closed by authenticating user ${NAME} 127.0.0.1 port ${port} [preauth]`,
      ),
    );
  });

  test("leaves out a connection that was let in after all", () => {
    const found = gather(NAME);
    found.add({ at: at(2), connection: "b 7", message: `Accepted publickey for ${NAME} from 192.0.2.7 port 1 ssh2` });
    found.add({ at: at(1), connection: "b 7", message: `Failed publickey for ${NAME} from 192.0.2.7 port 1 ssh2` });
    expect(found.refusals()).toEqual([]);
  });

  test("takes a line from long before for another connection's", () => {
    const found = gather(NAME);
    found.add({ at: at(3), connection: "b 7", message: closed });
    found.add({ at: new Date(at(3).getTime() - 3_600_000), connection: "b 7", message: closed });
    expect(found.refusals()).toHaveLength(2);
  });

  test("stops at ten refusals, and quotes at most six lines of a connection, each cut", () => {
    const found = gather(NAME);
    for (let line = 0; line < 100; line++) found.add({ at: at(30), connection: "b 0", message: closed + line });
    expect(found.refusals()).toEqual([]);
    const taken = Array.from({ length: 12 }, (_, connection) =>
      found.add({ at: at(29), connection: `b ${connection}`, message: closed }),
    );
    expect(taken).toEqual([...Array(10).fill(true), false, false]);
    for (let line = 0; line < 100; line++)
      found.add({ at: at(28), connection: "b 0", message: `${line} ${"x".repeat(5000)}` });
    const [first] = found.refusals();
    expect(first?.why.length).toBeLessThan(6 * 310);
  });
});

describe("openRefusalLog()", () => {
  let directory: string;
  let journal: FakeJournal;
  let seconds: number;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "uam-refusals-"));
    journal = startFakeJournal(directory);
    seconds = 1_795_000_000;
  });
  afterEach(() => {
    journal.close();
    rmSync(directory, { recursive: true });
  });

  const add = (message: string, more: Readonly<Record<string, string>> = {}) =>
    journal.add({
      ...{ MESSAGE: message, _UID: "0", _PID: "700", _COMM: "sshd", _EXE: "/usr/sbin/sshd", SYSLOG_IDENTIFIER: "sshd" },
      ...{ __REALTIME_TIMESTAMP: `${seconds++}000000`, _BOOT_ID: THIS_BOOT, ...more },
    });
  const closedBy = (port: number) =>
    `Connection closed by authenticating user ${NAME} 192.0.2.7 port ${port} [preauth]`;

  test("read() finds refusals from the end of the log, and nothing that the account's owner wrote", async () => {
    add(closedBy(1));
    add(closedBy(2), { _UID: "70000", _PID: "701" });
    add(closedBy(3), { _EXE: "/usr/bin/logger", _COMM: "logger", _PID: "702" });
    add(closedBy(4), { _PID: "703" });
    const { refusals, ...rest } = await openRefusalLog(journal.tools).read(NAME);
    expect(refusals.map(({ why }) => why)).toEqual([closedBy(4), closedBy(1)]);
    expect(rest).toEqual({});
  });

  test("read() says how far back it looked in a log that is longer than it reads", async () => {
    add(closedBy(1));
    for (let line = 0; line < 20; line++) add("Invalid user root2 from 192.0.2.8 port 1", { _PID: String(800 + line) });
    const read = await openRefusalLog(journal.tools, 10).read(NAME);
    expect(read).toEqual({ refusals: [], since: new Date((seconds - 10) * 1000) });
  });

  test("read() says why where there is no journal, none that answers, or nothing of sshd's in it", async () => {
    expect(await openRefusalLog({ journalctl: join(directory, "none") }).read(NAME)).toEqual({
      refusals: [],
      unread: expect.stringContaining("journalctl is missing"),
    });
    const broken = join(directory, "broken");
    writeFileSync(broken, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const answer = await openRefusalLog({ journalctl: broken }).read(NAME);
    expect(answer).toEqual({ refusals: [], unread: "journalctl does not answer" });
    expect(await openRefusalLog(journal.tools).read(NAME)).toEqual({
      refusals: [],
      unread: "The journal has no line of sshd's",
    });
  });
});
