/** The stream on a real host: into Debian's rsyslog over TLS, and into a file on a disk that fills up. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { audited } from "../../../src/domain/operation/audited.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { startEventFollower } from "../../../src/server/events/event-follower.ts";
import { createFileSink } from "../../../src/server/events/file.ts";
import { createSender } from "../../../src/server/events/sender.ts";
import { openStream } from "../../../src/server/events/sinks.ts";
import type { StreamParts } from "../../../src/server/events/stream.ts";
import { systemClock } from "../../../src/shared/time/clock.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { auditStreams } from "../../../src/store/schema-events.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { freePort } from "../../support/port.ts";
import { needs } from "../../support/tools.ts";
import { until } from "../../support/until.ts";

const isHost = process.env.UAM_TEST_HOST === "1";

let app: TestApp;
let directory: string;

beforeAll(async () => {
  app = await createTestApp();
  directory = mkdtempSync(join(tmpdir(), "uam-stream-host-"));
  chmodSync(directory, 0o755);
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

function stream(parts: StreamParts): () => Promise<void> {
  const handle = openDatabase(app.connection, 3);
  const sender = createSender({ networks: [], clock: systemClock });
  const follower = startEventFollower(app.services, { db: handle.db, sender, stream: parts });
  return async () => {
    await follower.stop();
    await handle.close();
  };
}

async function record(times: number, name = "ä"): Promise<void> {
  const entry = { action: "key.update", detail: { name } } as const;
  for (let time = 0; time < times; time++) await audited(systemContext(app.services), entry, async () => {});
}

const ids = async () => (await app.auditRows()).map(({ id }) => id);
/** A line that a killed rsyslog left unfinished goes on with the next one's record. */
const idsIn = (path: string): number[] =>
  existsSync(path)
    ? [...readFileSync(path, "utf8").matchAll(/^.*(\{"id":.*\})\n/gm)].map(([, json]) => JSON.parse(json ?? "").id)
    : [];
const stored = async (target: string) =>
  (await app.db.select().from(auditStreams).where(eq(auditStreams.target, target)))[0];
/** Whether it was tried in vain. There is nothing stored yet when the records come before the stream has begun. */
const hasFailed = async (target: string) => ((await stored(target))?.failures ?? 0) > 0;

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

describe.skipIf(!isHost || !needs("rsyslogd"))("rsyslog", () => {
  /** The settings that docs/events.md shows, with places of our own. */
  async function startRsyslog(port: number, output: string, { certFile, keyFile }: ReturnType<typeof makeCertificate>) {
    const place = join(directory, `rsyslog-${port}`);
    mkdirSync(place, { recursive: true });
    const config = join(place, "rsyslog.conf");
    writeFileSync(
      config,
      `global(workDirectory="${place}" maxMessageSize="64k"
  defaultNetstreamDriver="gtls" defaultNetstreamDriverCAFile="${certFile}"
  defaultNetstreamDriverCertFile="${certFile}" defaultNetstreamDriverKeyFile="${keyFile}")
module(load="imtcp" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon")
input(type="imtcp" port="${port}" address="127.0.0.1" ruleset="uam")
template(name="uam" type="string" string="%app-name% %msgid% %syslogseverity-text% %msg%\\n")
ruleset(name="uam") { action(type="omfile" file="${output}" template="uam") }
`,
    );
    const child = spawn("/usr/sbin/rsyslogd", ["-n", "-f", config, "-i", join(place, "pid")], { stdio: "ignore" });
    await until(() => answers(port));
    return child;
  }

  async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.kill(signal);
    await ended;
  }

  test("takes every record over TLS, complete and in order; restarted, it is sent what it missed", async () => {
    const made = makeCertificate(directory, "DNS:localhost", "IP:127.0.0.1");
    const port = await freePort();
    const output = join(directory, "rsyslog.out");
    let server = await startRsyslog(port, output, made);
    const target = `syslog+tls://localhost:${port}`;
    const parts = openStream({ auditStream: target, auditStreamCa: made.certFile });
    if (parts === undefined) throw new Error("no stream");
    const stop = stream(parts);
    try {
      await record(50);
      // Longer than what rsyslog takes by default is cut by it, not by us.
      await record(1, "é".repeat(900));
      const first = await ids();
      await until(() => idsIn(output).length === first.length);
      expect(idsIn(output)).toEqual(first);
      const [line = ""] = readFileSync(output, "utf8").split("\n");
      expect(line).toMatch(/^uam key\.update info +\{"id":1,/);
      await until(async () => (await stored(target))?.cursor === first.at(-1));
      await end(server, "SIGTERM");
      await record(20);
      await until(() => hasFailed(target));
      server = await startRsyslog(port, output, made);
      const all = await ids();
      await until(() => idsIn(output).at(-1) === all.at(-1));
      expect([...new Set(idsIn(output))]).toEqual(all);
      await until(async () => (await stored(target))?.failingSince === null);
      // Killed, so that nothing of what it had read is written.
      await record(200);
      await end(server, "SIGKILL");
      await record(5);
      server = await startRsyslog(port, output, made);
      const more = await ids();
      await until(() => idsIn(output).at(-1) === more.at(-1));
      expect([...new Set(idsIn(output))].sort((one, other) => one - other)).toEqual(more);
    } finally {
      await stop();
      await end(server, "SIGKILL");
    }
  }, 180_000);
});

describe.skipIf(!isHost)("a full disk", () => {
  test("is waited for; no record is lost or torn", async () => {
    const mount = mkdtempSync(join(directory, "small-"));
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", mount]);
    expect(String(mounted.stderr)).toBe("");
    const path = join(mount, "audit.jsonl");
    const ballast = join(mount, "ballast");
    writeFileSync(ballast, "x".repeat(52 * 1024));
    const target = `file:${path}`;
    const stop = stream({ target, sink: createFileSink(path) });
    try {
      await record(60, "n".repeat(500));
      await until(() => hasFailed(target));
      expect((await stored(target))?.lastError).toBe(`${path} cannot be written: the disk is full`);
      expect(readFileSync(path, "utf8")).toMatch(/^$|\n$/);
      rmSync(ballast);
      spawnSync("mount", ["-o", "remount,size=4m", mount]);
      const all = await ids();
      await until(() => idsIn(path).length === all.length);
      expect(idsIn(path)).toEqual(all);
      await until(async () => (await stored(target))?.failingSince === null);
    } finally {
      await stop();
      spawnSync("umount", ["-l", mount]);
    }
  }, 180_000);
});
