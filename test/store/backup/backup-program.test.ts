import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, type Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { writeBackup } from "../../../src/store/backup/backup.ts";
import { backupName } from "../../../src/store/backup/backup-directory.ts";
import { parseHeader } from "../../../src/store/backup/backup-format.ts";
import { type Program, sendAway, withName } from "../../../src/store/backup/backup-program.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

setDefaultTimeout(60_000);

const directory = mkdtempSync(join(tmpdir(), "uam-test-backup-program-"));
const NAME = backupName(new Date("2026-03-01T10:00:00Z"));
const PUT = 'cat > "$1.part" && mv "$1.part" "$1"';
const GET = 'cat "$1"';
const HEADER = '{"program":"1","createdAt":0,"migrations":[],"tables":[],"identities":[],"auditKey":null}';
const patient = new AbortController().signal;
const said: string[] = [];
let database: TestDatabase;
let older: Buffer;

beforeAll(async () => {
  database = await createTestDatabase();
  const sink = new PassThrough();
  const [content] = await Promise.all([buffer(sink), written("2026-02-01T10:00:00Z")(sink)]);
  older = content;
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

function written(at: string, signal = patient) {
  const source = { connection: database.superuser, program: "1", createdAt: new Date(at), auditKey: undefined, signal };
  return (sink: Writable) => writeBackup(source, sink);
}

/** A program with that script, which is given the place of the backup. */
function program(name: string, script: string): Program {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o700);
  const environment = { PATH: "/usr/bin:/bin", UAM_AUDIT_KEY: "secret", BUN_OPTIONS: "x", REMOTE: "far" };
  return { argv: withName([path, join(directory, "{name}")], NAME), environment, said: (text) => void said.push(text) };
}

/** How it goes with programs of these scripts. */
async function sent(put: string, get?: string): Promise<string> {
  const fetch = get === undefined ? undefined : program("get", get);
  const made = sendAway({ send: program("put", put), fetch }, patient, written("2026-03-01T10:00:00Z"));
  return await made.then(
    ({ bytes }) => `${bytes} bytes`,
    (error: Error) => error.message.replaceAll(directory, "DIR"),
  );
}

test("a backup goes to one program and is read again from another, which know nothing of the service's secrets", async () => {
  const result = await sent(`${PUT}; echo "as $REMOTE"; env >&2`, GET);
  expect(result).toBe(`${readFileSync(join(directory, NAME)).length} bytes`);
  expect(said.join("")).toContain("as far\n");
  expect(said.join("")).not.toMatch(/UAM_|BUN_/);
});

const uncounted = (how: string) => `${how}. The backup does not count as made.`;

test("it does not count as made if the program fails, in its own words, or cannot be run", async () => {
  expect(await sent("cat > /dev/null; echo over quota >&2; exit 7")).toBe(
    uncounted("DIR/put ended with exit code 7: over quota"),
  );
  expect(await sent("echo no such remote >&2; exit 1")).toBe(
    uncounted("DIR/put ended with exit code 1: no such remote"),
  );
  expect(await sent("kill -TERM $$")).toBe(uncounted("DIR/put was ended by SIGTERM"));
  const missing = { ...program("put", PUT), argv: ["/nonexistent/rclone"] };
  const made = sendAway({ send: missing, fetch: undefined }, patient, written("2026-03-01T10:00:00Z"));
  expect(made).rejects.toThrow("/nonexistent/rclone cannot be run");
});

test("it does not count as made if the program ends well before it has read all of it", async () => {
  // More than a pipe holds: of less, only what comes back shows it.
  const long = async (sink: Writable) => {
    await pipeline(Readable.from([Buffer.alloc(2 ** 22)]), sink);
    return { bytes: 2 ** 22, rows: {}, header: parseHeader(Buffer.from(HEADER)) };
  };
  const made = sendAway({ send: program("put", "head -c 10"), fetch: undefined }, patient, long);
  const message = await made.then(String, (error: Error) => error.message.replaceAll(directory, "DIR"));
  expect(message).toBe(uncounted("DIR/put left before it had read all of the backup"));
});

test("it does not count as made if what comes back is not what was sent", async () => {
  expect(await sent(PUT, 'head -c -1 "$1"')).toContain("The backup is damaged");
  expect(await sent(PUT, 'head -c 20 "$1"')).toContain("The backup is damaged");
  expect(await sent(PUT, "true")).toBe("The file is not a backup made by uam.");
  expect(await sent(PUT, 'cat "$1"; echo more')).toContain("The backup is damaged");
  expect(await sent(PUT, 'head -c 99 "$1"; echo not found >&2; exit 3')).toBe(
    uncounted("DIR/get ended with exit code 3: not found"),
  );
  writeFileSync(join(directory, "older"), older);
  expect(await sent(PUT, `cat "${join(directory, "older")}"`)).toBe(
    uncounted("DIR/get gave back another backup, of 2026-02-01T10:00:00.000Z"),
  );
});

test("a program that is given a part of a backup does not see its end", async () => {
  const cut = sendAway({ send: program("put", PUT), fetch: undefined }, patient, async (sink) => {
    await new Promise((resolve) => sink.write(Buffer.from("uam-backup 1\n"), resolve));
    sink.destroy(new Error("the database is gone"));
    throw new Error("the database is gone");
  });
  expect(cut).rejects.toThrow("the database is gone");
  rmSync(join(directory, NAME), { force: true });
  await cut.catch(() => {});
  expect(existsSync(join(directory, NAME))).toBe(false);
});

test("it ends when it is told to, whatever the programs do", async () => {
  const stop = new AbortController();
  const fetch = program("get", "sleep 1000 & echo $! >&2; wait");
  const made = sendAway(
    { send: program("put", PUT), fetch: { ...fetch, said: () => stop.abort(new Error("stopped")) } },
    stop.signal,
    written("2026-03-01T10:00:00Z", stop.signal),
  );
  expect(made).rejects.toThrow("stopped");
  await made.catch(() => {});
});
