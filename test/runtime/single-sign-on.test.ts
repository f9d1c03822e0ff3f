/** Single sign-on on each runtime: a real process of the service, a real provider, everything over HTTP. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startProvider } from "../support/oidc-provider.ts";
import { freePort } from "../support/port.ts";
import { programs } from "../support/programs.ts";
import { BINARY } from "../support/service.ts";
import { openBrowser, ssoVariables } from "../support/sso-browser.ts";
import { describeSlow } from "../support/thorough.ts";
import { until } from "../support/until.ts";

const { binary, ...fromSource } = programs();
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  ...fromSource,
  ...(existsSync(BINARY) || process.env.UAM_TEST_HOST === "1" ? { binary } : {}),
};

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-sso-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describeSlow.each(Object.keys(PROGRAMS))("single sign-on on %s", (name) => {
  test("logs in, and ends the session when the provider says so", async () => {
    const database = await createTestDatabase();
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const back = `${origin}/api/v1/auth/oidc`;
    const provider = await startProvider(`${back}/callback`, `${back}/backchannel-logout`);
    const env = { ...environmentOf(name, database), UAM_LISTEN: `127.0.0.1:${port}`, UAM_BASE_URL: origin };
    const service = Bun.spawn([...(PROGRAMS[name] ?? []), "serve"], {
      env: { ...env, ...ssoVariables(provider.issuer) },
      stderr: "ignore",
      stdout: "ignore",
    });
    try {
      await untilAnswers(`${origin}/api/v1/readyz`);
      const claims = { preferred_username: "real", email: "real@example.org", groups: ["ops"] };
      provider.wishes.person = { subject: "real-1", claims };
      const browser = openBrowser({ origin });
      expect(await browser.login("/admin/users")).toBe("/login?as=admin&sso=done&next=%2Fadmin%2Fusers");
      expect(await browser.me()).toMatchObject({ username: "real", role: "operator" });
      const client = (await provider.provider.Client.find("uam")) as unknown as {
        backchannelLogout(subject: string, session: string): Promise<void>;
      };
      await client.backchannelLogout("real-1", sidOf(provider.sids));
      expect(await browser.me()).toBe(401);
    } finally {
      service.kill("SIGTERM");
      await service.exited;
      await provider.close();
      await database.drop();
    }
  });
});

/** The provider's session of the only login that there was. */
function sidOf(sids: readonly string[]): string {
  const last = sids.at(-1);
  if (last === undefined) throw new Error("the provider named no session");
  return last;
}

async function untilAnswers(url: string): Promise<void> {
  await until(() =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
}

/** The test's server answers on a unix socket, which no URL can name: the driver takes it from PostgreSQL's own variables. */
function environmentOf(name: string, { connection }: TestDatabase): Record<string, string> {
  if ("url" in connection) throw new Error("The test database is not the embedded one");
  return {
    HOME: directory,
    PATH: process.env.PATH ?? "",
    DENO_NO_UPDATE_CHECK: "1",
    UAM_DATA_DIR: join(directory, name),
    UAM_DATABASE_URL: `postgres:///${connection.database}`,
    PGHOST: connection.host,
    PGPORT: String(connection.port),
    PGUSER: connection.username,
  };
}
