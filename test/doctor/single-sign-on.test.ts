import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ssoProviderOf } from "../../src/cli/commands/administrators/single-sign-on.ts";
import { readConfig } from "../../src/config/config.ts";
import { checkAdministrators } from "../../src/doctor/database.ts";
import { checkSingleSignOn } from "../../src/doctor/single-sign-on.ts";
import { silentLog } from "../../src/shared/log.ts";
import { systemClock } from "../../src/shared/time/clock.ts";
import { admins } from "../../src/store/schema-auth.ts";
import { createTestApp } from "../support/app.ts";
import { type ForgedProvider, startForgedProvider } from "../support/forged-provider.ts";
import { ssoVariables } from "../support/sso-browser.ts";

let provider: ForgedProvider;
beforeAll(async () => {
  provider = await startForgedProvider();
});
afterAll(() => provider.close());

async function check(issuer = provider.issuer) {
  const config = readConfig({ UAM_DATA_DIR: "/d", ...ssoVariables(issuer) }, { isRoot: false, currentDirectory: "/" });
  return checkSingleSignOn(await ssoProviderOf(config, { clock: systemClock, log: silentLog }));
}

describe("checkSingleSignOn()", () => {
  test("says that the provider answers, and nothing without single sign-on", async () => {
    expect(await check()).toEqual([
      { area: "sign-on", state: "ok", finding: `The provider ${provider.issuer} answers as it should` },
    ]);
    expect(await checkSingleSignOn(undefined)).toEqual([]);
  });

  test("finds one that is away, calls itself another, or says too little", async () => {
    const finding = (what: string) => [
      expect.objectContaining({ state: "fault", finding: expect.stringContaining(what) }),
    ];
    expect(await check("http://127.0.0.1:1")).toEqual(finding("cannot be had"));
    provider.forgery.metadata = { issuer: "https://evil.example" };
    expect(await check()).toEqual(finding("is of another issuer"));
    provider.forgery.metadata = { jwks_uri: undefined };
    expect(await check()).toEqual(finding("where logins, tokens and keys are"));
    provider.honest();
  });
});

describe("checkAdministrators()", () => {
  test("counts owners of single sign-on, and says that none of them gets in without the provider", async () => {
    const app = await createTestApp();
    const at = app.clock.now();
    await app.db
      .insert(admins)
      .values({ username: "ann", email: "a@example.org", sso: true, createdAt: at, updatedAt: at });
    expect((await checkAdministrators(app.db)).map(({ state }) => state)).toEqual(["ok", "note"]);
    await app.admin();
    expect((await checkAdministrators(app.db)).map(({ state }) => state)).toEqual(["ok"]);
    await app.close();
  });
});
