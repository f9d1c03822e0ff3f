import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { sealCaptcha } from "../../../../src/domain/auth/codes/captcha-id.ts";
import {
  consumeCaptcha,
  issueCaptcha,
  PROOF_MAXIMUM,
  purgeCaptchas,
} from "../../../../src/domain/auth/codes/captchas.ts";
import { sharedSecret } from "../../../../src/domain/auth/secrets.ts";
import type { CaptchaMode } from "../../../../src/domain/operation/context.ts";
import { HOUR, MINUTE } from "../../../../src/shared/time/clock.ts";
import { secrets, usedCaptchas } from "../../../../src/store/schema-auth.ts";
import { createTestApp, type TestApp } from "../../../support/app.ts";
import { testSlow } from "../../../support/thorough.ts";

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  await app.user("captcha-user");
});
afterAll(() => app.close());
beforeEach(() => {
  count++;
  app.clock.advance(HOUR);
});

function send(fields: Record<string, unknown>) {
  return app.anonymous().call("POST", "/auth/otp/send", { username: "captcha-user", ...fields });
}

describe("sharedSecret()", () => {
  test("gives all simultaneous first callers the same 32 bytes", async () => {
    await app.db.delete(secrets);
    const keys = await Promise.all(Array.from({ length: 20 }, () => sharedSecret(app.services, "captcha")));
    expect(new Set(keys.map((key) => Buffer.from(key).toString("hex"))).size).toBe(1);
    expect(keys[0]?.length).toBe(32);
    expect(await app.db.select().from(secrets)).toHaveLength(1);
  });
});

describe("GET /auth/captcha", () => {
  test("answers with an id and a PNG, and writes nothing", async () => {
    const before = [await app.db.select().from(usedCaptchas), await app.auditRows()];
    const { status, body } = await app.anonymous().call("GET", "/auth/captcha");
    expect(status).toBe(200);
    expect(Object.keys(body.data)).toEqual(["captcha_id", "image", "proof"]);
    const [prefix, base64 = ""] = body.data.image.split(",");
    expect(prefix).toBe("data:image/png;base64");
    expect(Buffer.from(base64, "base64").subarray(1, 4).toString()).toBe("PNG");
    expect([await app.db.select().from(usedCaptchas), await app.auditRows()]).toEqual(before);
    expect((await issueCaptcha(app.services)).captchaId).not.toBe(body.data.captcha_id);
  });
});

describe("POST /auth/otp/send", () => {
  test("accepts the right answer in any case, sends a code and says so", async () => {
    const { captchaId, answer } = await app.captcha();
    const sent = await send({ captcha_id: captchaId, captcha_code: ` ${answer.toLowerCase()} ` });
    expect(sent.status).toBe(200);
    expect(sent.body).toEqual({ data: { status: "sent" } });
    const mail = (await app.mails("captcha-user@example.org")).at(-1);
    const code = /\b\d{8}\b/.exec(mail?.text ?? "")?.[0];
    const login = await app.anonymous().call("POST", "/auth/otp/login", { username: "captcha-user", code });
    expect(login.status).toBe(200);
  });

  const refused: readonly (readonly [string, () => Promise<{ captchaId: string; answer: string }>])[] = [
    ["a wrong answer", async () => ({ ...(await app.captcha()), answer: "WRONG" })],
    ["an invalid id", async () => ({ captchaId: "nonsense", answer: "PHARAOH" })],
    ["an empty id", async () => ({ captchaId: "", answer: "" })],
    ["a huge id", async () => ({ captchaId: "A".repeat(20_000), answer: "PHARAOH" })],
    [
      "one sealed with another key",
      async () => ({ captchaId: sealCaptcha("PHARAOH", new Uint8Array(32), app.clock.now()), answer: "PHARAOH" }),
    ],
    [
      "an expired one",
      async () => {
        const captcha = await app.captcha();
        app.clock.advance(5 * MINUTE);
        return captcha;
      },
    ],
    [
      "one that was already answered correctly",
      async () => {
        const captcha = await app.captcha();
        await consumeCaptcha(app.system, captcha);
        return captcha;
      },
    ],
    [
      "one that was already answered wrongly",
      async () => {
        const captcha = await app.captcha();
        await expect(consumeCaptcha(app.system, { ...captcha, answer: "WRONG" })).rejects.toThrow();
        return captcha;
      },
    ],
  ];
  test.each(refused)("refuses %s with 400, sends nothing and starts no cooldown", async (_name, make) => {
    const { captchaId, answer } = await make();
    const before = (await app.mails()).length;
    const response = await send({ captcha_id: captchaId, captcha_code: answer });
    expect(response.status).toBe(400);
    expect(response.body.error).toContain("captcha");
    expect(await app.mails()).toHaveLength(before);
    expect(await app.lastAudit("auth.otp_send")).toMatchObject({ result: "failed", actorType: "anonymous" });
    const good = await app.captcha();
    expect((await send({ captcha_id: good.captchaId, captcha_code: good.answer })).status).toBe(200);
  });

  test("of 20 simultaneous uses of one captcha one passes", async () => {
    const { captchaId, answer } = await app.captcha();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        send({ username: `many-${count}-${n}`, captcha_id: captchaId, captcha_code: answer }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 400)]);
  });

  test("answers an unknown name exactly as a known one, cooldown included", async () => {
    const known: unknown[] = [];
    const unknown: unknown[] = [];
    for (const [username, seen] of [
      ["captcha-user", known],
      [`nobody-${count}`, unknown],
    ] as const) {
      for (let n = 0; n < 2; n++) {
        const { captchaId, answer } = await app.captcha();
        const { status, text, headers } = await send({ username, captcha_id: captchaId, captcha_code: answer });
        const names = [...headers.keys()].sort();
        seen.push({ status, text, names, retryAfter: headers.get("retry-after") });
      }
    }
    expect(unknown).toEqual(known);
    expect(known).toMatchObject([{ status: 200 }, { status: 429, retryAfter: "60" }]);
  });

  test("with UAM_CAPTCHA=off any answer passes", async () => {
    const lax = await createTestApp({ UAM_CAPTCHA: "off" });
    const body = { username: "nobody", captcha_id: "", captcha_code: "" };
    expect((await lax.anonymous().call("POST", "/auth/otp/send", body)).status).toBe(200);
    await lax.close();
  });
});

describe("limits on anonymous routes", () => {
  const NOBODY = { username: "nobody", captcha_id: "", captcha_code: "" };
  const ROUTES: readonly [most: number, method: string, path: string, body: (n: number) => unknown][] = [
    [30, "GET", "/auth/captcha", () => undefined],
    [30, "POST", "/auth/otp/send", (n) => ({ ...NOBODY, username: `nobody-${n}` })],
    [60, "POST", "/auth/otp/login", (n) => ({ username: `nobody-${n}`, code: "12345678" })],
    [10, "POST", "/auth/admin/forgot", (n) => ({ username: `nobody-${n}` })],
    [10, "POST", "/approvals", (n) => ({ username: `nobody-${n}`, email: "a@example.org" })],
  ];

  testSlow.each(["on", "proof", "off"])("hold with UAM_CAPTCHA=%s", async (captcha) => {
    const limited = await createTestApp({ UAM_CAPTCHA: captcha, UAM_RATE_LIMIT: "on" });
    for (const [most, method, path, body] of ROUTES) {
      const statuses: number[] = [];
      for (let n = 0; n <= most; n++) statuses.push((await limited.anonymous().call(method, path, body(n))).status);
      expect([path, statuses.indexOf(429)]).toEqual([path, most]);
      const elsewhere = limited.anonymous("198.51.100.7");
      expect((await elsewhere.call(method, path, body(most + 1))).status).not.toBe(429);
    }
    await limited.close();
  });

  test("the cooldown and the lock of a name hold with UAM_CAPTCHA=off", async () => {
    const lax = await createTestApp({ UAM_CAPTCHA: "off" });
    const send = () => lax.anonymous().call("POST", "/auth/otp/send", NOBODY);
    const guess = () => lax.anonymous().call("POST", "/auth/otp/login", { username: "nobody", code: "12345678" });
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(429);
    for (let n = 0; n < 5; n++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
    lax.clock.advance(14 * MINUTE);
    expect((await send()).status).toBe(429);
    await lax.close();
  });
});

describe("purgeCaptchas()", () => {
  test("deletes used captchas once they have expired, and not before", async () => {
    await consumeCaptcha(app.system, await app.captcha());
    await purgeCaptchas(app.services);
    expect(await app.db.select().from(usedCaptchas)).toHaveLength(1);
    app.clock.advance(5 * MINUTE);
    await purgeCaptchas(app.services);
    expect(await app.db.select().from(usedCaptchas)).toHaveLength(0);
  });
});

describe("a proof of work instead of the picture's text", () => {
  type Proof = { readonly salt: string; readonly target: string; readonly maximum: number };
  /** As the page does it. */
  function solve({ salt, target, maximum }: Proof): number {
    for (let number = 0; number <= maximum; number++) {
      if (createHash("sha256").update(`${salt}${number}`).digest("hex") === target) return number;
    }
    throw new Error("the proof has no solution");
  }
  async function ask(mode: CaptchaMode) {
    const policy = { ...app.services.policy, captcha: mode };
    const { captchaId, png, proof } = await issueCaptcha({ ...app.services, policy });
    const give = (answer: string) => consumeCaptcha({ ...app.system, policy }, { captchaId, answer });
    return { png, proof, give };
  }

  test("is asked for beside the picture, and accepted once", async () => {
    const { body } = await app.anonymous().call("GET", "/auth/captcha");
    const { captcha_id, proof } = body.data;
    expect(proof).toMatchObject({ algorithm: "SHA-256", maximum: PROOF_MAXIMUM });
    const answer = `pow:${solve(proof)}`;
    expect((await send({ captcha_id, captcha_code: answer })).status).toBe(200);
    app.clock.advance(MINUTE);
    expect((await send({ captcha_id, captcha_code: answer })).status).toBe(400);
  });

  test("counts only where it was asked for, and so does the text", async () => {
    const image = await ask("image");
    expect(image).toMatchObject({ proof: undefined });
    expect(image.give("pow:")).rejects.toThrow("captcha is wrong");
    const proof = await ask("proof");
    expect(proof.png).toBeUndefined();
    expect(proof.give("")).rejects.toThrow("captcha is wrong");
    const again = await ask("proof");
    if (again.proof === undefined) throw new Error("no proof was asked for");
    await again.give(`pow:${solve(again.proof)}`);
  });

  test.each(["pow:-1", "pow:1e3", "pow:", "pow:0x10", "pow:٣", "pow:9999999999", "proof", "/", "pow:/"])(
    "is refused as %p",
    async (answer) => {
      const { give } = await ask("both");
      expect(give(answer)).rejects.toThrow("captcha is wrong");
    },
  );

  test("is not in the sealed id, and differs each time", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => ask("proof")));
    expect(new Set(made.map(({ proof }) => proof?.salt)).size).toBe(20);
    expect(new Set(made.map(({ proof }) => proof?.target)).size).toBe(20);
  });
});

describe("the limits", () => {
  test("hold without the captcha", async () => {
    const open = await createTestApp({ UAM_CAPTCHA: "off", UAM_RATE_LIMIT: "on" });
    await open.user("bob");
    open.clock.advance(HOUR);
    const client = open.anonymous("198.51.100.7");
    const ask = () => client.call("POST", "/auth/otp/send", { username: "bob", captcha_id: "", captcha_code: "" });
    const statuses: number[] = [];
    for (let round = 0; round < 35; round++) statuses.push((await ask()).status);
    expect(statuses[0]).toBe(200);
    // One code a minute for a name; 30 requests an hour from an address.
    expect(statuses.slice(1).every((status) => status === 429)).toBe(true);
    open.clock.advance(2 * MINUTE);
    expect((await ask()).headers.get("uam-error")).toBe("rate.limited");
    const other = open.anonymous("198.51.100.8");
    const codes = Array.from({ length: 8 }, (_, index) => String(index).padStart(8, "0"));
    const guesses: number[] = [];
    for (const code of codes) {
      guesses.push((await other.call("POST", "/auth/otp/login", { username: "bob", code })).status);
    }
    expect(guesses.filter((status) => status === 401).length).toBeLessThanOrEqual(5);
    expect(guesses.at(-1)).toBe(429);
    await open.close();
  });
});
