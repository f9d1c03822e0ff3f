/** The whole application on a real database, with a fake host and clock, and someone to call it. */

import { ssoProviderOf } from "../../src/cli/commands/administrators/single-sign-on.ts";
import { webOptionsOf } from "../../src/cli/commands/service/web-options.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import { createSeal } from "../../src/domain/audit/seal.ts";
import { createPasswordHasher } from "../../src/domain/auth/administrators/passwords.ts";
import { sealCaptcha } from "../../src/domain/auth/codes/captcha-id.ts";
import type { CaptchaAnswer } from "../../src/domain/auth/codes/captchas.ts";
import { printCode } from "../../src/domain/auth/codes/otp.ts";
import { sharedSecret } from "../../src/domain/auth/secrets.ts";
import type { Context, Services } from "../../src/domain/operation/context.ts";
import { fleetOf } from "../../src/domain/wire/fleet.ts";
import { type App, createApp } from "../../src/server/api/app.ts";
import type { WebOptions } from "../../src/server/api/web.ts";
import { policyOf } from "../../src/server/compose.ts";
import { createSender } from "../../src/server/events/sender.ts";
import { type Log, silentLog } from "../../src/shared/log.ts";
import { DAY, MINUTE, systemClock } from "../../src/shared/time/clock.ts";
import { type ConnectionOptions, type Database, openDatabase } from "../../src/store/client.ts";
import { type OutboxRow, outbox } from "../../src/store/schema.ts";
import { type AuditRow, audit } from "../../src/store/schema-audit.ts";
import { admins } from "../../src/store/schema-auth.ts";
import { TEST_KEY } from "./audit-log.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { createTestDatabase } from "./database.ts";
import { createFakeHost, type FakeHost } from "./fake-host.ts";
import { checkAnswer } from "./openapi.ts";

export const ADMIN_PASSWORD = "seven lanterns over cold water";

/** A client with a cookie jar of one cookie. */
export interface Client {
  /** The session cookie as the client would send it, or "". */
  cookie: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; `data` or `error` is there. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

export interface TestApp {
  readonly app: App;
  readonly config: Config;
  readonly services: Services;
  readonly db: Database;
  readonly clock: TestClock;
  readonly host: FakeHost;
  readonly system: Context;
  /** A client without a session, on a socket whose other end has the address `peer` (undefined: a unix socket). */
  anonymous(peer?: string | undefined): Client;
  /** A captcha and the right answer to it. */
  captcha(): Promise<CaptchaAnswer>;
  /** A client logged in as the administrator `admin`. */
  admin(): Promise<Client>;
  /** Creates the user and returns a client logged in as it. */
  user(username: string): Promise<{ readonly id: number; readonly client: Client }>;
  /** Connects to the database as the program does. */
  readonly connection: ConnectionOptions;
  /** Connects to the database as a superuser. */
  readonly superuser: ConnectionOptions;
  /** Runs SQL as a superuser: the role of the program may not change the schema. */
  alter(statements: string): Promise<void>;
  auditRows(action?: string): Promise<AuditRow[]>;
  /** The last record of that action, its detail parsed. */
  lastAudit(action: string): Promise<Omit<AuditRow, "detail"> & { readonly detail: Record<string, unknown> }>;
  /** All mail that was queued for the recipient, oldest first; without a recipient, all mail. */
  mails(recipient?: string): Promise<OutboxRow[]>;
  close(): Promise<void>;
}

/** Opens an application on a database of its own; `variables` change the configuration. Limits of rates are off unless asked for. */
export async function createTestApp(
  variables: Record<string, string> = {},
  {
    pages,
    logo,
    setupCommand,
    // Of most tests the clock stands still.
    mostRefused = Number.POSITIVE_INFINITY,
    mostOwnChanges = Number.POSITIVE_INFINITY,
    ...log
  }: Partial<Log> & Pick<WebOptions, "pages" | "logo" | "setupCommand" | "mostRefused" | "mostOwnChanges"> = {},
  // Weak on purpose: most tests log in, and do not test hashing.
  hasher = createPasswordHasher({}, { password: 256, code: 256 }),
): Promise<TestApp> {
  const database = await createTestDatabase();
  const main = openDatabase(database.connection, 8);
  const autocommit = openDatabase(database.connection, 2);
  const environment = { UAM_DATA_DIR: "/nonexistent", UAM_RATE_LIMIT: "off", ...variables };
  const config = readConfig(environment, { isRoot: false, currentDirectory: "/" });
  const clock = createTestClock();
  const host = createFakeHost();
  const services: Services = {
    db: main.db,
    autocommit: autocommit.db,
    host,
    clock,
    log: { ...silentLog, ...log },
    hasher,
    seal: createSeal(TEST_KEY),
    policy: policyOf(config),
  };
  const app = createApp(services, {
    ...webOptionsOf(config, {
      ...{ version: "0.0.0-test", runtime: "test 1", pages, logo, setupCommand },
      sso: await ssoProviderOf(config, services),
      sendWebhook: createSender({ networks: config.webhookNetworks, clock: systemClock }).send,
    }),
    mostRefused,
    mostOwnChanges,
  });
  app.enter("serving");
  const system: Context = { ...services, actor: { type: "cli", name: "operator", ip: "" }, requestId: "" };

  async function admin(): Promise<Client> {
    const client = createClient(app);
    // Not by addAdmin(), so that tests which count records need not count this one.
    if (adminReady === undefined) adminReady = hasher.hash(ADMIN_PASSWORD).then(insertAdmin);
    await adminReady;
    const answer = await client.call("POST", "/auth/admin/login", { username: "admin", password: ADMIN_PASSWORD });
    if (answer.status !== 200) throw new Error(`admin login: ${answer.text}`);
    return client;
  }
  let adminReady: Promise<unknown> | undefined;
  async function insertAdmin(passwordHash: string): Promise<void> {
    const at = clock.now();
    const row = { username: "admin", email: "admin@example.org", passwordHash, createdAt: at, updatedAt: at };
    await main.db.insert(admins).values(row);
  }

  async function auditRows(action?: string): Promise<AuditRow[]> {
    const rows = await main.db.select().from(audit).orderBy(audit.id);
    return action === undefined ? rows : rows.filter((row) => row.action === action);
  }

  return {
    app,
    config,
    services,
    db: main.db,
    clock,
    host,
    system,
    anonymous: (...peer) => createClient(app, ...peer),
    captcha: async () => {
      const answer = "PHARAOH";
      return { captchaId: sealCaptcha(answer, await sharedSecret(services, "captcha"), clock.now()), answer };
    },
    admin,
    user: async (username) => {
      const creator = await admin();
      const made = await creator.call("POST", "/users", { username, email: `${username}@example.org` });
      if (made.status !== 201) throw new Error(`create ${username}: ${made.text}`);
      return { id: made.body.data.id, client: await loginUser(system, app, username) };
    },
    connection: database.connection,
    superuser: database.superuser,
    alter: async (statements) => {
      const root = openDatabase(database.superuser, 1);
      await root.db.execute(statements);
      await root.close();
    },
    auditRows,
    lastAudit: async (action) => {
      const row = (await auditRows(action)).at(-1);
      if (row === undefined) throw new Error(`there is no record of ${action}`);
      return { ...row, detail: JSON.parse(row.detail) };
    },
    mails: async (recipient) => {
      const rows = await main.db.select().from(outbox).orderBy(outbox.id);
      return recipient === undefined ? rows : rows.filter((row) => row.recipient === recipient);
    },
    close: async () => {
      await fleetOf(services).stop();
      await Promise.all([main.close(), autocommit.close()]);
      await database.drop();
    },
  };
}

/** A client logged in as an existing user, by a code from the command line. */
export async function loginUser(system: Context, app: App, username: string): Promise<Client> {
  const { code } = await printCode(system, username);
  const client = createClient(app);
  const answer = await client.call("POST", "/auth/otp/login", { username, code });
  if (answer.status !== 200) throw new Error(`login of ${username}: ${answer.text}`);
  return client;
}

/** The same client, that says its password again with whatever it changes: what outlives a session needs it. */
export function confirming(client: Client): Client {
  return {
    get cookie() {
      return client.cookie;
    },
    set cookie(cookie) {
      client.cookie = cookie;
    },
    call: (method, path, body, headers) => {
      const isForm = typeof body === "object" || body === undefined;
      const sent = method === "GET" || !isForm ? body : { password: ADMIN_PASSWORD, ...body };
      return client.call(method, path, sent, headers);
    },
  };
}

export const LONG_AFTER = 400 * DAY;
export const CODE_COOLDOWN = MINUTE;

function createClient(app: App, ...peers: readonly (string | undefined)[]): Client {
  const peer = peers.length === 0 ? "192.0.2.1" : peers[0];
  const client: Client = {
    cookie: "",
    call: async (method, path, body, headers = {}) => {
      const request = new Request(`http://127.0.0.1:8080/api/v1${path}`, {
        method,
        headers: {
          ...(client.cookie === "" ? {} : { cookie: client.cookie }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
      });
      const response = await app.fetch(request, peer);
      const set = response.headers.get("set-cookie");
      if (set !== null) client.cookie = /Max-Age=0/i.test(set) ? "" : (set.split(";")[0] ?? "");
      const text = await response.text();
      const isJson = response.headers.get("content-type") === "application/json";
      checkAnswer({ request, sent: body, response, text });
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
    },
  };
  return client;
}
