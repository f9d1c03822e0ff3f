/** What the mail about a revocation says of the jobs that went with it. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JobsGone } from "../../../src/protocol/host.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";
import { freshKey } from "../../support/keys.ts";

let alone: TestApp;
let withOthers: TestApp;
beforeAll(async () => {
  [alone, withOthers] = [await createTestApp(), await createTestApp()];
  await insertHost(withOthers, "further");
});
afterAll(() => Promise.all([alone.close(), withOthers.close()]));

/** The last mail to a user whose key was revoked, in one line. */
async function mailAfter(app: TestApp, jobs: JobsGone | undefined): Promise<string> {
  const username = `planter-${crypto.randomUUID().slice(0, 8)}`;
  const { client } = await app.user(username);
  const key = await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  const { takeKey } = app.host;
  app.host.takeKey = async (...given) => ({ ...(await takeKey(...given)), ...(jobs === undefined ? {} : { jobs }) });
  try {
    expect((await client.call("DELETE", `/me/keys/${key.body.data.id}`)).status).toBe(200);
  } finally {
    app.host.takeKey = takeKey;
  }
  const mails = (await app.mails()).filter(({ recipient }) => recipient.startsWith(username));
  const text = (mails.at(-1)?.text ?? "").replace(/\s+/g, " ");
  expect(text).toContain("no longer opens your account");
  return text;
}

test("names them, and who can show them, where there were any", async () => {
  const kept = await mailAfter(alone, "kept");
  expect(kept).toContain("Your crontab, your at jobs and lingering were removed from the server as well");
  expect(kept).toContain("An administrator can show you a copy of what was in them for 30 days");
  const lost = await mailAfter(alone, "lost");
  expect(lost).toContain("Your crontab, your at jobs and lingering were removed from the server as well");
  expect(lost).not.toContain("copy");
});

test("says nothing of jobs where there were none, and where nothing ends with a key", async () => {
  expect(await mailAfter(alone, undefined)).not.toMatch(/crontab|lingering/);
});

test("says what may have been where other hosts follow: what was scheduled there is not known yet", async () => {
  const text = await mailAfter(withOthers, undefined);
  expect(text).toContain("If you had a crontab, at jobs or lingering, they were removed from the servers as well");
  expect(text).toContain("An administrator can show you a copy");
  expect(await mailAfter(withOthers, "kept")).toContain("Your crontab, your at jobs and lingering were removed");
});
