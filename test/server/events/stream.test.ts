/** The stream of audit records, to a file and over syslog: complete and in order, whatever becomes of the receiver. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { readStream } from "../../../src/domain/events/receivers.ts";
import { audited } from "../../../src/domain/operation/audited.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { startEventFollower } from "../../../src/server/events/event-follower.ts";
import { createFileSink } from "../../../src/server/events/file.ts";
import { createSender } from "../../../src/server/events/sender.ts";
import type { Sink } from "../../../src/server/events/stream.ts";
import { createSyslogSink, syslogFrame } from "../../../src/server/events/syslog.ts";
import { isPrintable } from "../../../src/shared/text/text.ts";
import { systemClock } from "../../../src/shared/time/clock.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { auditStreams } from "../../../src/store/schema-events.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { SHORT_HANG } from "../../support/hang.ts";
import { startSyslogServer } from "../../support/syslog-server.ts";
import { testSlow } from "../../support/thorough.ts";
import { needs } from "../../support/tools.ts";
import { until } from "../../support/until.ts";

let app: TestApp;
let directory: string;
const opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  app = await createTestApp();
  directory = mkdtempSync(join(tmpdir(), "uam-stream-"));
  await record(3);
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

let targets = 0;

/** Streams to the sink, under a name of its own or an earlier one. */
function stream(sink: Sink, target = `test:${++targets}`) {
  const handle = openDatabase(app.connection, 3);
  const sender = createSender({ networks: [], clock: systemClock });
  const follower = startEventFollower(app.services, { db: handle.db, sender, stream: { target, sink } });
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopped ??= follower.stop().then(() => handle.close());
    await stopped;
  };
  opened.push(stop);
  return { target, stop, reopen: follower.reopen };
}

async function record(times: number, name = "ä"): Promise<void> {
  const entry = { action: "key.update", detail: { name } } as const;
  for (let time = 0; time < times; time++) await audited(systemContext(app.services), entry, async () => {});
}

async function ids(): Promise<number[]> {
  return (await app.auditRows()).map(({ id }) => id);
}

const stored = async (target: string) =>
  (await app.db.select().from(auditStreams).where(eq(auditStreams.target, target)))[0];

const linesOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []);
const idsIn = (path: string) => linesOf(path).map((line) => JSON.parse(line).id);

describe("a file", () => {
  test("gets every record from the first one on as a line of JSON, and is its group's to read", async () => {
    const path = join(directory, "a.jsonl");
    const { target, stop } = stream(createFileSink(path));
    await record(5);
    const all = await ids();
    await until(() => idsIn(path).length === all.length);
    expect(idsIn(path)).toEqual(all);
    expect(JSON.parse(linesOf(path).at(-1) ?? "")).toMatchObject({ action: "key.update", detail: '{"name":"ä"}' });
    expect(statSync(path).mode & 0o777).toBe(0o640);
    await until(async () => (await stored(target))?.cursor === all.at(-1));
    await stop();
    // The next start goes on, and another address begins with the first record.
    await record(2);
    stream(createFileSink(path), target);
    await until(() => idsIn(path).length === all.length + 2);
    expect(idsIn(path)).toEqual(await ids());
  }, 180_000);

  test("is opened again when it was moved away, told so or not", async () => {
    const path = join(directory, "rotated.jsonl");
    const { reopen } = stream(createFileSink(path));
    await until(() => idsIn(path).length > 0);
    renameSync(path, `${path}.1`);
    reopen();
    await record(2);
    await until(() => idsIn(path).length === 2);
    renameSync(path, `${path}.2`);
    await record(1);
    await until(() => idsIn(path).length === 1);
    expect([`${path}.1`, `${path}.2`, path].flatMap(idsIn)).toEqual(await ids());
  }, 180_000);

  test("a half line that a crash left is removed, and the record written whole; what is not ours is left", async () => {
    const path = join(directory, "half.jsonl");
    const sink = createFileSink(path);
    const [first, second] = await app.auditRows();
    if (first === undefined || second === undefined) throw new Error("no records");
    for (const half of ['{"id":2,"created_at":"2026-', "{", '{"id"']) {
      writeFileSync(path, "");
      await sink.write([first]);
      appendFileSync(path, half);
      await sink.close();
      await sink.write([second]);
      expect(idsIn(path)).toEqual([1, 2]);
      await sink.close();
    }
    writeFileSync(path, "someone's own notes");
    await sink.write([first]);
    expect(linesOf(path)[0]).toBe("someone's own notes");
    expect(JSON.parse(linesOf(path)[1] ?? "").id).toBe(1);
    await sink.close();
  });

  test("what is no regular file is refused: a link, a directory, a pipe, a missing directory", async () => {
    const [row] = await app.auditRows();
    if (row === undefined) throw new Error("no record");
    const link = join(directory, "link");
    symlinkSync(join(directory, "elsewhere"), link);
    const pipe = join(directory, "pipe");
    spawnSync("mkfifo", [pipe]);
    for (const [path, why] of [
      [link, "it is a symbolic link"],
      [directory, "it is a directory"],
      [pipe, "it is not a regular file"],
      [join(directory, "no/such"), "its directory does not exist"],
    ] as const) {
      await expect(createFileSink(path).write([row])).rejects.toThrow(why);
    }
    expect(existsSync(join(directory, "elsewhere"))).toBe(false);
  });
});

test("a record of an older version, as file and as syslog, drives no terminal and stays one line", async () => {
  const [kept] = await app.auditRows();
  if (kept === undefined) throw new Error("no record");
  const row = { ...kept, detail: JSON.stringify({ name: "\u009b31m\u0085\u2028\u202e" }) };
  const path = join(directory, "older");
  const sink = createFileSink(path);
  await sink.write([row]);
  await sink.close();
  const line = readFileSync(path, "utf8").slice(0, -1);
  const frame = syslogFrame(row);
  for (const text of [line, frame]) {
    expect(isPrintable(text)).toBe(true);
    expect(JSON.parse(text.slice(text.indexOf("{"))).detail).toBe(row.detail);
  }
  expect(frame).toStartWith(`${Buffer.byteLength(frame.slice(frame.indexOf("<")))} <`);
});

describe("syslog", () => {
  test("a message is RFC 5424 with octet counting; its MSG is the record as JSON", async () => {
    const [row] = await app.auditRows();
    if (row === undefined) throw new Error("no record");
    const frame = syslogFrame({ ...row, result: "failed" });
    const [, count, message = ""] = /^(\d+) (.*)$/s.exec(frame) ?? [];
    expect(Buffer.byteLength(message)).toBe(Number(count));
    expect(message).toMatch(/^<108>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [!-~]+ uam - key\.update - \{/);
    expect(JSON.parse(message.slice(message.indexOf("{")))).toMatchObject({ id: row.id, detail: '{"name":"ä"}' });
    expect(syslogFrame(row)).toContain(" <110>1 ");
  });

  testSlow(
    "TCP: a receiver that is cut off gets what had not settled again; down for a while, it loses nothing",
    async () => {
      const server = await startSyslogServer();
      const { port } = server;
      const { target } = stream(createSyslogSink({ tls: false, host: "127.0.0.1", port, ca: undefined }, 200));
      await record(3);
      const first = await ids();
      await until(() => server.ids().length === first.length);
      await until(async () => (await stored(target))?.cursor === first.at(-1));
      await server.close();
      await record(4);
      await until(async () => ((await stored(target))?.failures ?? 0) > 0);
      expect(
        (await readStream({ db: app.db, policy: { ...app.services.policy, auditStream: target } }))?.lag,
      ).toBeGreaterThan(0);
      const again = await startSyslogServer({ port });
      opened.push(() => again.close());
      const all = await ids();
      await until(() => again.ids().at(-1) === all.at(-1));
      const got = [...new Set([...server.ids(), ...again.ids()])];
      expect(got).toEqual([...all]);
      await until(async () => (await stored(target))?.failingSince === null);
    },
    180_000,
  );

  test.if(needs("openssl"))(
    "TLS: verified by the authority that is named; without it, or for another name, nothing is sent",
    async () => {
      const made = makeCertificate(directory, "DNS:localhost");
      const server = await startSyslogServer({ tls: made });
      opened.push(() => server.close());
      const at = { tls: true, host: "localhost", port: server.port };
      const [row] = await app.auditRows();
      if (row === undefined) throw new Error("no record");
      await expect(createSyslogSink({ ...at, ca: undefined }).write([row])).rejects.toThrow("SELF_SIGNED");
      const byAddress = createSyslogSink({ ...at, host: "127.0.0.1", ca: made.certFile });
      await expect(byAddress.write([row])).rejects.toThrow("ERR_TLS_CERT_ALTNAME_INVALID");
      const nowhere = createSyslogSink({ ...at, ca: join(directory, "no.pem") });
      await expect(nowhere.write([row])).rejects.toThrow("UAM_AUDIT_STREAM_CA names a file that cannot be read");
      expect(server.messages).toEqual([]);
      stream(createSyslogSink({ ...at, ca: made.certFile }, 100));
      const all = await ids();
      await until(() => server.ids().length === all.length);
      expect(server.ids()).toEqual([...all]);
    },
    180_000,
  );

  testSlow(
    "a receiver that reads nothing costs those who write the log nothing",
    async () => {
      const server = await startSyslogServer();
      opened.push(() => server.close());
      server.pause();
      const { port } = server;
      stream(createSyslogSink({ tls: false, host: "127.0.0.1", port, ca: undefined }, 100));
      const began = performance.now();
      await record(300, "n".repeat(900));
      // A receiver that takes nothing is given so long: nobody waited for it even once.
      expect(performance.now() - began).toBeLessThan(SHORT_HANG);
      server.resume();
      const all = await ids();
      await until(() => server.ids().at(-1) === all.at(-1));
      expect([...new Set(server.ids())]).toEqual([...all]);
    },
    180_000,
  );
});
