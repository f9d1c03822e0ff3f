import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { sql } from "drizzle-orm";
import { exportAudit } from "../../../src/domain/exports/audit.ts";
import { createExportPlaces, type ExportPlaces } from "../../../src/domain/exports/places.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import type { RunningServer } from "../../../src/runtime/runtime.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { type DatabaseHandle, openDatabase } from "../../../src/store/client.ts";
import { withGuardsDown } from "../../../src/store/protect.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { parseCsv } from "../../support/csv.ts";
import { testSlow } from "../../support/thorough.ts";
import { until } from "../../support/until.ts";

let app: TestApp;
let admin: Client;
let server: RunningServer;
/** A superuser: the service's own role can neither forge records nor alter their table. */
let root: DatabaseHandle;
let written = 0;

/** More than two blocks of 5000. */
const MANY = 12_000;

beforeAll(async () => {
  app = await createTestApp();
  root = openDatabase(app.superuser, 1);
  admin = await app.admin();
  const listen = { kind: "tcp", hostname: "127.0.0.1", port: 0 } as const;
  server = await bunRuntime.serve({ listen, ...app.app });
});
afterAll(async () => {
  await server.stop(0);
  await root.close();
  await app.close();
});

/** Adds records as they are, beside what operations write; each `createdAt` is later than all before. */
async function addRecords(rows: readonly { actor?: string; detail?: string; createdAt: string }[]): Promise<void> {
  await root.db.transaction((tx) =>
    withGuardsDown(tx, async () => {
      for (const { actor = "someone", detail = "{}", createdAt } of rows) {
        await tx.execute(sql`
          with head as (update audit_head set id = id + 1, created_at = ${createdAt}::timestamptz returning id)
          insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip)
          select id, ${createdAt}::timestamptz, 'admin', ${actor}, 'user.delete', 'user', '7', ${detail}, 'success', '' from head`);
      }
    }),
  );
}

async function addMany(count: number, at: string, detail = "{}"): Promise<void> {
  await root.db.transaction((tx) =>
    withGuardsDown(tx, async () => {
      await tx.execute(sql`
        with head as (select id from audit_head),
          moved as (update audit_head set id = id + ${count}, created_at = ${at}::timestamptz)
        insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip)
        select head.id + n, ${at}::timestamptz, 'cli', 'filler', 'key.rename', 'ssh_key', n::text, ${detail}, 'success', ''
        from head, generate_series(1, ${count}) as n`);
    }),
  );
}

function download(path = "/audit/export", init: RequestInit = {}) {
  return fetch(`${server.address}/api/v1${path}`, { ...init, headers: { cookie: admin.cookie } });
}

/** How many connections of this database are busy, besides the one that asks. */
async function busyConnections(): Promise<number> {
  const [row] = await app.db.execute<{ busy: number }>(sql`
    select count(*)::int as busy from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`);
  return row?.busy ?? -1;
}

describe("exportAudit()", () => {
  test("answers with a CSV attachment named after the day, with a byte order mark", async () => {
    const answer = await admin.call("GET", "/audit/export");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const day = app.clock.now().toISOString().slice(0, 10);
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="audit-${day}.csv"`);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const bytes = new Uint8Array(await (await download()).arrayBuffer());
    expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  });

  test("holds what GET /audit holds, oldest first, under the record's field names", async () => {
    // The first read in an hour is a record of its own.
    await admin.call("GET", "/audit?page_size=1");
    const listed = await admin.call("GET", "/audit?page_size=500");
    const [header = [], ...rows] = parseCsv(await (await download()).text());
    expect(header).toEqual(Object.keys(listed.body.data.items[0]));
    const records = rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index]])));
    const expected = listed.body.data.items.map((item: object) =>
      Object.fromEntries(Object.entries(item).map(([key, value]) => [key, String(value)])),
    );
    expect(records).toEqual(expected.reverse());
  });

  test("is on record with its span before it begins, and not among its own records; HEAD is not", async () => {
    const { text } = await admin.call("GET", "/audit/export?since=2000-01-01T00:00:00Z");
    const { detail, ...record } = await app.lastAudit("audit.export");
    expect(record).toMatchObject({ actor: "admin", resourceType: "", resourceId: "", result: "success" });
    expect(detail).toEqual({ format: "csv", since: "2000-01-01T00:00:00.000Z" });
    expect(parseCsv(text).at(-1)?.[0]).toBe(String(record.id - 1));
    expect((await admin.call("HEAD", "/audit/export")).status).toBe(200);
    expect((await app.lastAudit("audit.export")).id).toBe(record.id);
  });

  test.each([
    ['say "hi", ok', 'say "hi", ok'],
    ["two\r\nlines", "two\r\nlines"],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@sum", "'@sum"],
    ["\tx", "'\tx"],
    ["\rx", "'\rx"],
    ["＝1+1", "'＝1+1"],
    ["a=1", "a=1"],
    ["Ünïcödé 🖥", "Ünïcödé 🖥"],
    ["", ""],
  ])("writes the text %j so that it reads %j", async (actor, read) => {
    const createdAt = `2030-01-01T00:00:${String(++written).padStart(2, "0")}Z`;
    await addRecords([{ actor, detail: JSON.stringify({ err: actor }), createdAt }]);
    const rows = parseCsv(await (await download("/audit/export?until=2030-12-31T00:00:00Z")).text());
    const row = rows.at(-1) ?? [];
    expect(row[3]).toBe(read);
    expect(JSON.parse(row[7] ?? "")).toEqual({ err: actor });
  });

  // Spreadsheets of many countries separate cells by semicolons, and know no quotes within a line.
  test.each([
    ["x;=1+1;y", "x;'=1+1;y"],
    ["; \t@sum;-1", "; \t'@sum;'-1"],
    ["a;b=1", "a;b=1"],
  ])("writes the text %j so that it reads %j, in the detail too", async (text, read) => {
    const createdAt = `2030-01-01T00:00:${String(++written).padStart(2, "0")}Z`;
    await addRecords([{ actor: text, detail: `{"err":"${text.replace("\t", " ")}"}`, createdAt }]);
    const row = parseCsv(await (await download("/audit/export?until=2030-12-31T00:00:00Z")).text()).at(-1) ?? [];
    expect([row[3], JSON.parse(row[7] ?? "").err]).toEqual([read, read.replace("\t", " ")]);
  });

  // An empty quoted text with something after it: the cell is what comes after.
  test.each([
    ['x;"=1+1;y', `x;"'=1+1;y`],
    ['x;""@sum', `x;""'@sum`],
    ['x; " =1', `x; " '=1`],
    ['say ";"', 'say ";"'],
  ])("writes the name %j so that it reads %j", async (actor, read) => {
    const createdAt = `2030-01-01T00:00:${String(++written).padStart(2, "0")}Z`;
    await addRecords([{ actor, createdAt }]);
    const row = parseCsv(await (await download("/audit/export?until=2030-12-31T00:00:00Z")).text()).at(-1) ?? [];
    expect(row[3]).toBe(read);
  });

  test("takes since and until as inclusive, and ends every line with CRLF", async () => {
    const times = ["2031-05-05T10:00:00.000Z", "2031-05-05T10:00:00.001Z", "2031-05-05T10:00:00.002Z"];
    await addRecords(times.map((createdAt) => ({ createdAt })));
    const path = "/audit/export?since=2031-05-05T12:00:00.001%2B02:00&until=2031-05-05T10:00:00.002Z";
    const text = await (await download(path)).text();
    expect(
      parseCsv(text)
        .slice(1)
        .map((row) => row[1]),
    ).toEqual(times.slice(1));
    expect(text.endsWith("\r\n")).toBe(true);
    const none = await (await download("/audit/export?until=0000-01-01T00:00:00Z")).text();
    expect(parseCsv(none)).toHaveLength(1);
  });

  test.each([["since=yesterday"], ["until=2026-02-30T00:00:00Z"], ["since=2026-01-01"]])(
    "refuses %p with 400",
    async (query) => {
      const answer = await admin.call("GET", `/audit/export?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error: expect.any(String) });
    },
  );

  test("spans blocks without losing or repeating a record, and leaves out what comes later", async () => {
    await addMany(MANY, "2032-01-01T00:00:00Z");
    const response = await download("/audit/export?since=2032-01-01T00:00:00Z&until=2032-12-31T00:00:00Z");
    await addMany(10, "2032-06-01T00:00:00Z");
    const rows = parseCsv(await response.text()).slice(1);
    expect(rows.map((row) => row[6])).toEqual(Array.from({ length: MANY }, (_, index) => String(index + 1)));
  });

  test("answers HEAD without taking a slot", async () => {
    for (let n = 0; n < 5; n++) expect((await admin.call("HEAD", "/audit/export")).status).toBe(200);
    expect((await admin.call("GET", "/audit/export")).status).toBe(200);
  });

  test("runs twice at once; a third is 429 until one is done or its client has gone", async () => {
    const [one, two] = [await hold(), await hold()];
    const third = await download();
    expect(third.status).toBe(429);
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await third.json()).toEqual({ error: expect.any(String) });
    await one.text();
    const again = await hold();
    expect((await download()).status).toBe(429);
    const reader = again.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect((await download()).status).toBe(200);
    await two.body?.cancel();
  });

  test("a client that leaves in the middle frees its slot and holds no connection", async () => {
    for (let n = 0; n < 6; n++) {
      await leaveInTheMiddle();
      await until(async () => (await busyConnections()) === 0);
    }
    const responses = await Promise.all([download(), download()]);
    for (const response of responses) {
      expect(response.status).toBe(200);
      await response.text();
    }
  });

  testSlow(
    "is given up when it is not read from for long, before the first block or after one, and frees the slot",
    async () => {
      await addMany(MANY, "2034-01-01T00:00:00Z");
      const range = {};
      for (const blocks of [0, 1]) {
        const places = createExportPlaces(1);
        const reader = (await exportAudit(app.system, range, { format: "csv", places, patience: 1500 })).getReader();
        for (let block = 0; block < blocks; block++) expect((await reader.read()).done).toBe(false);
        await until(() => isFree(places));
        await expect(reader.read()).rejects.toThrow("The export was interrupted");
      }
    },
  );

  test("is not waited for once its reader has left, also while a block is being read", async () => {
    await addMany(5001, "2034-02-01T00:00:00Z");
    const calls: string[] = [];
    const note = (call: string) => () => void calls.push(call);
    const place = { waits: note("waits"), isRead: note("is read"), onGivingWay() {}, release: note("release") };
    const slow = slowlyRead();
    const reader = (
      await exportAudit(slow.context, {}, { format: "csv", places: { take: () => place }, patience: 1500 })
    ).getReader();
    await reader.read();
    await reader.cancel();
    expect(calls).toEqual(["waits", "is read", "release"]);
    await slow.release();
    expect(calls).toEqual(["waits", "is read", "release"]);
  });

  test("a failure before the first block is JSON with 500", async () => {
    await root.db.execute(sql`alter table audit rename column ip to ip_gone`);
    const answer = await admin.call("GET", "/audit/export");
    await root.db.execute(sql`alter table audit rename column ip_gone to ip`);
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({ error: expect.any(String) });
    expect((await admin.call("GET", "/audit/export")).status).toBe(200);
  });

  test("a failure in the middle breaks the connection instead of ending it normally, and frees the slot", async () => {
    for (let n = 0; n < 3; n++) {
      const reader = (await app.app.fetch(exportRequest(), undefined)).body?.getReader();
      await reader?.read();
      await root.db.execute(sql`alter table audit rename column ip to ip_gone`);
      // The next block was read ahead, so it may still come.
      const rest = (async () => {
        while (!(await reader?.read())?.done);
      })();
      await expect(rest).rejects.toThrow();
      await root.db.execute(sql`alter table audit rename column ip_gone to ip`);
    }
    expect(await brokenOverTheWire()).toBe(true);
  });

  test("the next day has another file name", async () => {
    app.clock.advance(DAY);
    admin = await app.admin();
    const { headers } = await admin.call("HEAD", "/audit/export");
    expect(headers.get("content-disposition")).toContain(app.clock.now().toISOString().slice(0, 10));
  });
});

/** A context whose reading of blocks after the first comes to an end with `release`, which returns once whoever waited for it went on. */
function slowlyRead() {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  const blocks: Promise<unknown>[] = [];
  type Client = typeof app.db.$client;
  const unsafe = (...query: Parameters<Client["unsafe"]>) => ({
    raw: () => {
      const rows = app.db.$client.unsafe(...query).raw();
      blocks.push(blocks.length === 0 ? rows : Promise.all([rows, released]).then(([read]) => read));
      return blocks.at(-1);
    },
  });
  const db = new Proxy(app.db, {
    get: (from, name) => (name === "$client" ? { unsafe } : Reflect.get(from, name)),
  });
  const release = async () => {
    resolve();
    await Promise.all(blocks);
    await new Promise(setImmediate);
  };
  return { context: { ...app.system, db }, release };
}

function isFree(places: ExportPlaces): boolean {
  try {
    places.take("other").release();
    return true;
  } catch {
    return false;
  }
}

function exportRequest(): Request {
  return new Request("http://127.0.0.1:8080/api/v1/audit/export", { headers: { cookie: admin.cookie } });
}

/** An export whose body nobody has started to read. */
async function hold(): Promise<Response> {
  const response = await app.app.fetch(exportRequest(), undefined);
  expect(response.status).toBe(200);
  return response;
}

/** Asks for an export on a socket that is not read from, and hangs up. */
async function leaveInTheMiddle(): Promise<void> {
  const socket = askOnSocket();
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  await Bun.sleep(20);
  socket.destroy();
}

/** Lets the database fail while a slow reader is in the middle; true if the body does not end with the last chunk. */
async function brokenOverTheWire(): Promise<boolean> {
  // More than the sockets' buffers take.
  await addMany(20_000, "2033-01-01T00:00:00Z", JSON.stringify({ err: "x".repeat(900) }));
  const socket = askOnSocket();
  const chunks: Buffer[] = [];
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  await root.db.execute(sql`alter table audit rename column ip to ip_gone`);
  socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
  await root.db.execute(sql`alter table audit rename column ip_gone to ip`);
  return !Buffer.concat(chunks).toString("latin1").endsWith("0\r\n\r\n");
}

function askOnSocket() {
  const { hostname, port } = new URL(server.address);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /api/v1/audit/export HTTP/1.1\r\nHost: x\r\nCookie: ${admin.cookie}\r\nConnection: close\r\n\r\n`);
  return socket;
}
