/** The service's own host in direct mode: the program from its source with its embedded database, real accounts named ext_two…. */

import { createHash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { severalAtOnce } from "../../../src/shared/work/several.ts";
import { type Service, startProgram } from "../../support/service.ts";
import { startSshd } from "../../support/sshd.ts";
import type { Place, Window } from "./place.ts";
import { forgetAccounts } from "./traces.ts";

const PROGRAM = [process.execPath, join(import.meta.dir, "../../../src/main.ts")];
const UIDS = "56000-56400";
const COOKIE = "__Host-uam_session";
const MINUTE = 60_000;
/** In milliseconds: before a window, for each account, whose hours are changed first. */
const BEGINS = { least: 5000, each: 400 };
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

export async function openOwnHost(count: number): Promise<Place> {
  const directory = mkdtempSync("/var/lib/uam-windows-");
  chmodSync(directory, 0o755);
  const home = join(directory, "home");
  mkdirSync(home, { mode: 0o755 });
  const variables = {
    ...{ UAM_HOST_MODE: "direct", UAM_HOME_BASE: home, UAM_UID_RANGE: UIDS, UAM_DATA_DIR: join(directory, "data") },
    ...{ UAM_RATE_LIMIT: "off", UAM_LOG_LEVEL: "warn", UAM_CONSOLE: "off" },
  };
  const sshd = await startSshd(directory);
  let service: Service = await startProgram(PROGRAM, directory, variables);
  const password = service.run(["admin", "add", "admin", "--email", "a@example.org"]).stdout.trim();
  const admin = (await service.call("POST", "/auth/admin/login", "", { username: "admin", password })).cookie;
  const sql = postgres({
    ...{ host: join(directory, "data/postgres/run"), port: 5432, username: "postgres", database: "uam", max: 1 },
    onnotice: () => {},
  });

  async function ask(method: string, path: string, body: unknown, cookie = admin) {
    const answer = await service.call(method, path, cookie, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }
  /** Nobody has to type a code for each of them. */
  async function sessionOf(userId: number, username: string): Promise<string> {
    const token = randomBytes(32).toString("base64url");
    const hash = createHash("sha256").update(token).digest();
    await sql`insert into sessions (token_hash, user_type, principal_id, username, created_at, expires_at)
      values (${hash}, 'user', ${userId}, ${username}, now(), now() + interval '1 day')`;
    return `${COOKIE}=${token}`;
  }
  const users = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const username = `two${index}`;
      const { id } = await ask("POST", "/users", { username, email: `${username}@example.org` });
      const { path } = sshd.makeKey(index + 1);
      const body = { name: "laptop", public_key: readFileSync(`${path}.pub`, "utf8") };
      const session = await sessionOf(id, username);
      await ask("POST", "/me/keys", body, session);
      const [row] = await sql`select uid from accounts where user_id = ${id}`;
      const name = `ext_${username}`;
      return { id, session, name, uid: Number(row?.uid), key: path, file: join(home, name, ".ssh/authorized_keys") };
    }),
  );
  await sql.end();

  const signalDatabase = (signal: NodeJS.Signals) => {
    const postmaster = Number(
      readFileSync(join(directory, "data/postgres/data/postmaster.pid"), "utf8").split("\n")[0],
    );
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim().split(" ");
    for (const pid of [postmaster, ...children.filter((each) => each !== "").map(Number)]) process.kill(pid, signal);
  };
  const signalService = (signal: NodeJS.Signals) => process.kill(service.pid, signal);

  return {
    about: "the service's own host",
    sshd,
    accounts: users,
    ways: {
      "all well": { endsSessions: true },
      "the service killed": {
        inside: () => signalService("SIGKILL"),
        after: async () => {
          await service.stop("SIGKILL");
          const listen = new URL(service.origin).host;
          service = await startProgram(PROGRAM, directory, { ...variables, UAM_LISTEN: listen });
        },
        endsSessions: false,
      },
      "the service stopped": {
        inside: () => signalService("SIGSTOP"),
        after: async () => void signalService("SIGCONT"),
        endsSessions: false,
      },
      "the database stopped": {
        inside: () => signalDatabase("SIGSTOP"),
        after: async () => signalDatabase("SIGCONT"),
        endsSessions: false,
      },
    },
    async shells() {
      const times: number[] = [];
      for (const { id, name, key, session } of users) {
        await ask("PATCH", `/users/${id}`, { on_request: { rule: "self", max_hours: 4 } });
        const began = performance.now();
        await ask("POST", "/me/access", { hours: 1, reason: "test" }, session);
        if (!sshd.login(name, key)) throw new Error(`${name} is not let in`);
        times.push(performance.now() - began);
      }
      return times;
    },
    async tell() {
      const window = nextWindow(count);
      const [from, to] = [window.from, window.to].map((time) => new Date(time).toISOString().slice(11, 16));
      const hours = { zone: "UTC", windows: [{ days: DAYS, from, to }] };
      const body = { hours, on_request: null };
      await severalAtOnce(users, { atOnce: 4 }, async ({ id }) => void (await ask("PATCH", `/users/${id}`, body)));
      if (Date.now() > window.from) throw new Error("the window began before all hours were changed: fewer --accounts");
      return window;
    },
    async close() {
      await service.stop("SIGKILL");
      sshd.stop();
      await forgetAccounts(users);
      signalDatabase("SIGKILL");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Hours are of whole minutes. */
function nextWindow(count: number): Window {
  const from = Math.ceil((Date.now() + BEGINS.least + BEGINS.each * count) / MINUTE) * MINUTE;
  return { from, to: from + MINUTE };
}
