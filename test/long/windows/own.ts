/** The service's own host in direct mode: the program from its source with its embedded database, and real accounts. */

import { createHash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { severalAtOnce } from "../../../src/shared/work/several.ts";
import { type Service, startProgram } from "../../support/service.ts";
import { startSshd } from "../../support/sshd.ts";
import { lengthFor, type Place, toldInTime } from "./place.ts";
import { directoryPrefix, NAMES } from "./traces.ts";

const PROGRAM = [process.execPath, join(import.meta.dir, "../../../src/main.ts")];
const UIDS = "46000-46999";
const COOKIE = "__Host-uam_session";
const MINUTE = 60_000;
/** Operations at the same moment. */
const AT_ONCE = 4;
/** In milliseconds: before a window, for each account, whose hours are changed first. */
const BEGINS = { least: 5000, each: 400 };
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

export async function openOwnHost(count: number): Promise<Place> {
  const directory = mkdtempSync(directoryPrefix());
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
    ...{ idle_timeout: 5, onnotice: () => {} },
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
  async function newUser(index: number) {
    const username = `${NAMES.own}${index}`;
    const { id } = await ask("POST", "/users", { username, email: `${username}@example.org` });
    const { path } = sshd.makeKey(index + 1);
    const body = { name: "laptop", public_key: readFileSync(`${path}.pub`, "utf8") };
    await ask("POST", "/me/keys", body, await sessionOf(id, username));
    const [row] = await sql`select uid from accounts where user_id = ${id}`;
    const name = `ext_${username}`;
    const file = join(home, name, ".ssh/authorized_keys");
    return { id, username, name, uid: Number(row?.uid), key: path, file };
  }
  const users: Awaited<ReturnType<typeof newUser>>[] = [];
  await severalAtOnce(Array(count).keys(), { atOnce: AT_ONCE }, async (index) => void users.push(await newUser(index)));

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
      for (const { id, username, name, key } of users) {
        const session = await sessionOf(id, username);
        await ask("PATCH", `/users/${id}`, { on_request: { rule: "self", max_hours: 4 } });
        const began = performance.now();
        await ask("POST", "/me/access", { hours: 1, reason: "test" }, session);
        if (!sshd.login(name, key)) throw new Error(`${name} is not let in`);
        times.push(performance.now() - began);
      }
      return times;
    },
    tell: () => toldInTime(BEGINS.least + BEGINS.each * count, tell),
    async close() {
      await service.stop("SIGKILL");
      sshd.stop();
    },
  };

  /** Hours are of whole minutes. */
  async function tell(begin: number) {
    const from = Math.ceil(begin / MINUTE) * MINUTE;
    const to = from + Math.ceil(lengthFor(count) / MINUTE) * MINUTE;
    const [first, last] = [from, to].map((time) => new Date(time).toISOString().slice(11, 16));
    const hours = { zone: "UTC", windows: [{ days: DAYS, from: first, to: last }] };
    const body = { hours, on_request: null };
    await severalAtOnce(users, { atOnce: AT_ONCE }, async ({ id }) => await changed(`/users/${id}`, body));
    return { from, to };
  }

  /** Until it has worked: after a database that stood still it fails for a moment. */
  async function changed(path: string, body: unknown): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return void (await ask("PATCH", path, body));
      } catch (error) {
        if (attempt === 60) throw error;
        await Bun.sleep(1000);
      }
    }
  }
}
