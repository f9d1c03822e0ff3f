/** Nothing carries secrets: whatever an operation and a route can reach holds none of the configured ones. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ssoProviderOf } from "../src/cli/commands/administrators/single-sign-on.ts";
import { webOptionsOf } from "../src/cli/commands/service/web-options.ts";
import { type Config, readConfig } from "../src/config/config.ts";
import { audited } from "../src/domain/operation/audited.ts";
import { systemContext } from "../src/domain/operation/context.ts";
import { bunRuntime } from "../src/runtime/bun.ts";
import { createApp } from "../src/server/api/app.ts";
import { openServices, type ServicesHandle } from "../src/server/compose.ts";
import { silentLog } from "../src/shared/log.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";

const AUDIT_KEY = "c0ffee".padEnd(64, "5a");
const SECRETS: Readonly<Record<string, string>> = {
  "database password": "p4ss of the database",
  "owner's password": "p4ss of the owner",
  "mail password": "p4ss of the mail server",
  "API key": "re_p4ss_of_resend",
  "audit key": AUDIT_KEY,
  "client secret": "p4ss of the client",
};

let database: TestDatabase;
let config: Config;
let handle: ServicesHandle;
let dataDir: string;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = mkdtempSync(join(tmpdir(), "uam-secrets-"));
  const { connection } = database;
  if ("url" in connection) throw new Error("the test database is reached by its socket");
  const at = `localhost/${connection.database}?host=${connection.host}&port=${connection.port}`;
  const url = (user: string, password = "") => `postgres://${user}:${encodeURIComponent(password)}@${at}`;
  const variables = {
    UAM_DATA_DIR: dataDir,
    UAM_DATABASE_URL: url(connection.username, SECRETS["database password"]),
    UAM_DATABASE_OWNER_URL: url("postgres", SECRETS["owner's password"]),
    UAM_SMTP_URL: `smtp://uam:${encodeURIComponent(SECRETS["mail password"] ?? "")}@mail.example.org`,
    UAM_MAIL_FROM: "uam@example.org",
    UAM_AUDIT_KEY: AUDIT_KEY,
    UAM_OIDC_ISSUER: "https://login.example.org",
    UAM_OIDC_CLIENT_ID: "uam",
    UAM_OIDC_CLIENT_SECRET: SECRETS["client secret"] ?? "",
    UAM_OIDC_ROLES: "groups:owners=owner",
  };
  const read = readConfig(variables, { isRoot: false, currentDirectory: "/" });
  // Either of the two ways to send mail can be configured, but not both.
  config = { ...read, resendApiKey: SECRETS["API key"] };
  handle = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
});
afterAll(async () => {
  await handle?.close();
  await database?.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe("secrets", () => {
  test("are found by the walk in the configuration itself, each of them", () => {
    expect(new Set(secretsIn({ config }).map(({ secret }) => secret))).toEqual(new Set(Object.keys(SECRETS)));
  });

  test("are not within an operation's reach", async () => {
    const context = systemContext(handle.services);
    // Used once, so that connections are open and what is kept of them is there.
    await audited(context, { action: "auth.logout" }, async (op) => {
      expect(secretsIn({ op, context })).toEqual([]);
    });
    expect(secretsIn({ context })).toEqual([]);
  });

  test("are not within a route's reach", async () => {
    const sso = await ssoProviderOf(config, handle.services);
    const options = webOptionsOf(config, { version: "1", runtime: "test", sso });
    expect(secretsIn({ options, services: handle.services, app: createApp(handle.services, options) })).toEqual([]);
  });
});

interface Found {
  readonly secret: string;
  readonly path: string;
}

/** Every place within reach of `root` by properties, own and inherited, and by the contents of maps and sets. */
function secretsIn(root: object): readonly Found[] {
  const found: Found[] = [];
  const seen = new Set<unknown>();
  const queue: { readonly value: unknown; readonly path: string }[] = [{ value: root, path: "" }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { value, path } = next;
    for (const secret of secretsOf(value)) found.push({ secret, path });
    if (value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value)) continue;
    seen.add(value);
    for (const [name, inner] of contentsOf(value)) queue.push({ value: inner, path: `${path}.${name}` });
  }
  expect(seen.size).toBeLessThan(200_000);
  return found;
}

function secretsOf(value: unknown): readonly string[] {
  const bytes = ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined;
  const texts = typeof value === "string" ? [value, safely(() => decodeURIComponent(value)) ?? ""] : [];
  if (bytes !== undefined) texts.push(bytes.toString("latin1"), bytes.toString("hex"));
  return Object.entries(SECRETS).flatMap(([name, secret]) =>
    texts.some((text) => text.includes(secret)) ? [name] : [],
  );
}

function contentsOf(value: object): readonly (readonly [string, unknown])[] {
  const contents: (readonly [string, unknown])[] = [];
  if (ArrayBuffer.isView(value)) return contents;
  if (value instanceof Map) for (const [key, inner] of value) contents.push(["key", key], [String(key), inner]);
  if (value instanceof Set) for (const inner of value) contents.push(["member", inner]);
  for (let owner: object | null = value; owner !== null; owner = Object.getPrototypeOf(owner)) {
    for (const key of Reflect.ownKeys(owner)) {
      // A getter is asked on behalf of the object, as anyone who has it would; one that throws gives nothing away.
      contents.push([String(key), safely(() => Reflect.get(owner, key, value))]);
    }
  }
  return contents;
}

function safely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
