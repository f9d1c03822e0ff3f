/** Strangers who have everything hashed that they can, and who still gets in. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { createPasswordHasher } from "../../../src/domain/auth/administrators/passwords.ts";
import { printCode } from "../../../src/domain/auth/codes/otp.ts";
import type { Hasher } from "../../../src/domain/operation/context.ts";
import { ADMIN_PASSWORD, type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { until } from "../../support/until.ts";

let app: TestApp;
let hasher: Hasher;
let session: Client;

beforeAll(async () => {
  hasher = createPasswordHasher({ concurrency: 1, maxQueue: 7 }, { password: 8 * 1024, code: 8 * 1024 });
  app = await createTestApp({}, {}, hasher);
  session = await app.admin();
  await addAdmin(app.system, "keeper", "keeper@example.org", ADMIN_PASSWORD);
  await app.user("known");
  app.clock.advance(3_600_000);
  session = await app.admin();
});
afterAll(() => app.close());

const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;

let flooding = true;
/** As many strangers at once as there are places and more, for as long as `ask` takes; each asks again as soon as it was answered. */
async function amid<T>(ask: () => Promise<T>): Promise<{ readonly answer: T; readonly strangers: readonly string[] }> {
  const strangers: string[] = [];
  flooding = true;
  let turns = 0;
  const stranger = async (n: number) => {
    do {
      const username = `nobody-${n}-${turns++}`;
      const answer =
        n % 2 === 0
          ? await app.anonymous().call("POST", "/auth/otp/login", { username, code: "12345678" })
          : await app.anonymous().call("POST", "/auth/admin/login", { username, password: "wrong wrong wrong" });
      strangers.push(reasonOf(answer));
    } while (flooding);
  };
  const all = Array.from({ length: 30 }, (_, n) => stranger(n));
  await until(() => strangers.includes("429 service.busy"));
  const answer = await ask();
  flooding = false;
  await Promise.all(all);
  return { answer, strangers };
}

test("strangers find at most half of the places, and the others stay for who has shown something", async () => {
  const { code } = await printCode(app.system, "known");
  const { captchaId: id, answer: solved } = await app.captcha();
  const { captchaId, answer: forCode } = await app.captcha();
  const keeper = { username: "keeper", password: ADMIN_PASSWORD };
  const { answer, strangers } = await amid(() =>
    Promise.all([
      // A code was sent to that name, after a captcha.
      app.anonymous().call("POST", "/auth/otp/login", { username: "known", code }),
      // A captcha that was solved beside the password.
      app.anonymous().call("POST", "/auth/admin/login", { ...keeper, captcha_id: id, captcha_code: solved }),
      // A captcha that was solved for a code.
      app
        .anonymous()
        .call("POST", "/auth/otp/send", { username: "anybody", captcha_id: captchaId, captcha_code: forCode }),
      // A session.
      session.call("POST", "/tokens", { name: "t", role: "owner", days: 1, password: ADMIN_PASSWORD }),
    ]),
  );
  expect(answer.map(({ status }) => status)).toEqual([200, 200, 200, 201]);
  expect(strangers.filter((one) => one === "429 service.busy").length).toBeGreaterThan(0);
});

test("a captcha that was not solved is no ticket, and no attempt", async () => {
  const { captchaId } = await app.captcha();
  const wrong = { username: "keeper", password: ADMIN_PASSWORD, captcha_id: captchaId, captcha_code: "wrong" };
  for (const path of ["/auth/admin/login", "/auth/admin/second"]) {
    expect(reasonOf(await app.anonymous().call("POST", path, wrong))).toBe("400 captcha.wrong");
  }
});
