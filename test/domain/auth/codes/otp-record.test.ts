/** What the records of codes say about a user who cannot log in; their answers say nothing. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { DAY, MINUTE } from "../../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

async function askAndFail(username: string) {
  app.clock.advance(2 * MINUTE);
  const client = app.anonymous();
  const { captchaId, answer } = await app.captcha();
  const solved = { captcha_id: captchaId, captcha_code: answer };
  const sent = await client.call("POST", "/auth/otp/send", { username, ...solved });
  const login = await client.call("POST", "/auth/otp/login", { username, code: "00000000" });
  const [send, failed] = [await app.lastAudit("auth.otp_send"), await app.lastAudit("auth.otp_login")];
  return { answers: [sent, login].map(({ status, text }) => [status, text]), details: [send.detail, failed.detail] };
}

test("a code that is asked for, or wrong, is recorded with the status of a user who is disabled or expired", async () => {
  const { id } = await app.user("off");
  const active = await askAndFail("off");
  expect(active.details.map(({ status }) => status)).toEqual([undefined, undefined]);
  expect((await (await app.admin()).call("POST", `/users/${id}/disable`)).status).toBe(200);
  const disabled = await askAndFail("off");
  expect(disabled.details).toMatchObject([
    { username: "off", status: "disabled" },
    { username: "off", status: "disabled" },
  ]);
  expect(disabled.answers).toEqual(active.answers);
  app.clock.advance(91 * DAY);
  expect((await askAndFail("off")).details).toMatchObject([{ status: "expired" }, { status: "expired" }]);
  expect((await askAndFail("nobody")).details.map(({ status }) => status)).toEqual([undefined, undefined]);
});
