/**
 * The floor of the hot paths: Bun.serve and the bare driver doing what each of them cannot do without, and nothing else. It answers
 * where uam does, so that the same load fits both.
 */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import process from "node:process";
import postgres from "postgres";
import { READS, SESSION, sessionValues } from "./work.mjs";
import { writeDurably } from "./write-durably.ts";

const job = JSON.parse(process.argv[2] ?? "{}");
const list = READS["/me/keys"];
const sql = postgres({ path: job.socket, username: job.username, database: job.database, max: 4 });
const keyFiles = mkdtempSync("/var/tmp/uam-bench-floor-");
process.on("SIGTERM", () => {
  rmSync(keyFiles, { recursive: true, force: true });
  process.exit(0);
});

const TOTAL = "select n_action as total from audit where action = $1 order by id desc limit 1";
const PAGE = "select * from audit where action = $1 order by id desc limit 20 offset $2";
const CHANGE = `insert into settings (key, value, updated_at) values ('bench', 1, now())
  on conflict (key) do update set value = settings.value + 1`;
const COLUMNS = "id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    const [session] = await sql.unsafe(SESSION, sessionValues(request.headers.get("cookie")), { prepare: true });
    if (session === undefined) return Response.json({ error: "no session" }, { status: 401 });
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.endsWith("/audit/export")) return new Response(await exported());
    if (pathname.endsWith("/audit")) return await page(searchParams);
    if (request.method === "POST") return await change(await request.text());
    if (request.method === "DELETE") return await revocation();
    const rows = await sql.unsafe(list.text ?? "", list.values?.(session) as string[], { prepare: true });
    return Response.json(list.answer(session, rows));
  },
});
console.log(server.url.origin);

async function page(asked: URLSearchParams): Promise<Response> {
  const action = asked.get("action") ?? "";
  const offset = (Number(asked.get("page")) - 1) * 20;
  const [total, items] = await Promise.all([
    sql.unsafe(TOTAL, [action], { prepare: true }),
    sql.unsafe(PAGE, [action, offset], { prepare: true }),
  ]);
  return Response.json({ data: { total: Number(total[0]?.total), items } });
}

/** One commit, and one file that is on disk before it has its name. */
async function change(text: string): Promise<Response> {
  await sql.unsafe(CHANGE, [], { prepare: true });
  writeDurably(keyFiles, text);
  return Response.json({ data: { id: 1 } });
}

/** The same, and one look at all processes, whose number differs from machine to machine. */
async function revocation(): Promise<Response> {
  const answer = await change("");
  for (const name of readdirSync("/proc")) {
    if (/^\d+$/.test(name) && existsSync(`/proc/${name}/stat`)) look(`/proc/${name}/stat`);
  }
  return answer;
}

function look(path: string): void {
  try {
    readFileSync(path);
  } catch {
    // It has ended.
  }
}

/** `psql \copy` of the columns of the export; throws unless it succeeds. */
async function exported(): Promise<string> {
  const copy = `\\copy (select ${COLUMNS} from audit order by id) to /dev/null csv header`;
  const argv = ["psql", "-X", "-h", job.directory, "-U", job.username, "-d", job.database, "-c", copy];
  const psql = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const text = await new Response(psql.stdout).text();
  if ((await psql.exited) !== 0) throw new Error("psql failed");
  return text;
}
