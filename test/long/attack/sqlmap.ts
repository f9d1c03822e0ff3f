/** sqlmap on every parameter of every operation, and on a server that is injectable, so that finding nothing means something. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { openDatabase } from "../../../src/store/client.ts";
import { createTestDatabase, stopTestServer } from "../../support/database.ts";
import { apiDocument } from "../../support/openapi.ts";
import { OPERATIONS } from "./requests.ts";
import type { Target } from "./target.ts";
import { say } from "./tools.ts";

const SQLMAP = "/usr/bin/sqlmap";
/** Each of them hashes a password, whatever is sent. */
const COSTLY = /login|password|reset|forgot/;
/** Seconds for one operation. */
const LIMIT = 300;

/** What sqlmap found, a line each; none is well. */
export async function sqlmap(target: Target, tell: (line: string) => void): Promise<readonly string[]> {
  const owner = await target.enter("owner");
  const found: string[] = [];
  let tried = 0;
  for (const operation of OPERATIONS.filter((it) => !COSTLY.test(it))) {
    const request = requestFor(operation, owner.headers);
    if (request === undefined) continue;
    tried++;
    found.push(...(await injectable(`${target.service.origin}`, request)).map((line) => `${operation}: ${line}`));
  }
  tell(`sqlmap tried the parameters of ${tried} operations`);
  return found;
}

/** Throws unless sqlmap finds what is there to be found, in a server that pastes a parameter into its statement. */
export async function provesItself(): Promise<void> {
  const { connection } = await createTestDatabase();
  const { db, close } = openDatabase(connection, 4);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const name = new URL(request.url).searchParams.get("name") ?? "";
      try {
        return Response.json(await db.execute(sql.raw(`select 1 as found where 'a' = '${name}'`)));
      } catch (error) {
        return new Response(String(error), { status: 500 });
      }
    },
  });
  try {
    const found = await injectable(server.url.origin, "GET /?name=a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    if (found.length === 0) throw new Error("sqlmap does not find an injection where there is one");
  } finally {
    await server.stop(true);
    await close();
    await stopTestServer();
  }
}

/** A request that fits the document, with a mark at each value in the path; undefined where there is nothing to try. */
function requestFor(operation: string, headers: Readonly<Record<string, string>>): string | undefined {
  const [method = "", template = ""] = operation.split(" ");
  // biome-ignore lint/suspicious/noExplicitAny: a part of a JSON document
  const documented: any = apiDocument.paths[template]?.[method.toLowerCase()] ?? {};
  const parameters: readonly { name: string; in: string }[] = documented.parameters ?? [];
  const example = documented.requestBody?.content?.["application/json"]?.example;
  if (parameters.length === 0 && example === undefined) return undefined;
  const path = template.replace(/\{\w+\}/g, "1*");
  const query = parameters
    .filter((it) => it.in === "query" && it.name !== "preview")
    .map((it) => `${it.name}=1`)
    .join("&");
  const body = example === undefined ? "" : JSON.stringify(example);
  const lines = [
    `${method} /api/v1${path}${query === "" ? "" : `?${query}`} HTTP/1.1`,
    "Host: 127.0.0.1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === "" ? [] : ["Content-Type: application/json"]),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

async function injectable(origin: string, request: string): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), "uam-sqlmap-"));
  try {
    const file = join(directory, "request.txt");
    const output = join(directory, "out");
    mkdirSync(output);
    writeFileSync(file, request.replace("Host: 127.0.0.1", `Host: ${new URL(origin).host}`));
    const how = [
      "--batch",
      // Else it takes its targets from there.
      "--ignore-stdin",
      "--level=2",
      "--risk=2",
      "--dbms=postgresql",
      "--threads=4",
      "--flush-session",
      "--ignore-code=*",
    ];
    const quick = ["--technique=BEUS", "--disable-coloring", `--output-dir=${output}`];
    const { status, text } = await say([SQLMAP, "-r", file, ...how, ...quick], LIMIT);
    if (status === null) throw new Error(`sqlmap did not end within ${LIMIT} s:\n${text.slice(-2000)}`);
    const found = [...text.matchAll(/^Parameter: .*\n {4}Type: .*/gm)].map(([line]) => line.replace(/\s+/g, " "));
    if (found.length > 0 || /all tested parameters do not appear to be injectable/.test(text)) return found;
    throw new Error(`sqlmap did not work:\n${text.slice(-2000)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
