import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createResendTransport } from "../../../src/server/mail/resend.ts";

const MESSAGE = { to: "alice@example.org", subject: "Your code", text: "01234567\n", html: "<p>01234567</p>" };

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

let seen: Seen[] = [];
let answer: () => Response | Promise<Response> = () => Response.json({ id: "1" });
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const body = request.method === "POST" ? await request.json() : undefined;
    seen.push({ method: request.method, path: new URL(request.url).pathname, headers: request.headers.toJSON(), body });
    return answer();
  },
});
const transport = createResendTransport({
  apiKey: "re_test",
  from: "UAM <uam@example.org>",
  baseUrl: server.url.origin,
});

beforeEach(() => {
  seen = [];
  answer = () => Response.json({ id: "1" });
});
afterAll(() => server.stop(true));

describe("createResendTransport", () => {
  test("send() posts the whole message with the idempotency key", async () => {
    expect(await transport.send(MESSAGE, "outbox-7")).toEqual({ kind: "sent", answer: "the id 1" });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      method: "POST",
      path: "/emails",
      headers: { authorization: "Bearer re_test", "idempotency-key": "outbox-7" },
      body: { ...MESSAGE, from: "UAM <uam@example.org>", headers: { "Auto-Submitted": "auto-generated" } },
    });
  });

  test.each([
    [422, "validation_error", "reject"],
    [422, "missing_required_field", "reject"],
    [409, "invalid_idempotent_request", "reject"],
    [409, "concurrent_idempotent_requests", "retry"],
    [403, "validation_error", "retry"],
    [401, "invalid_api_key", "retry"],
    [429, "rate_limit_exceeded", "retry"],
    [429, "daily_quota_exceeded", "retry"],
    [500, "application_error", "retry"],
  ] as const)("send() treats %d %s as %s", async (statusCode, name, kind) => {
    answer = () => Response.json({ statusCode, name, message: "what\r\nit says" }, { status: statusCode });
    const result = await transport.send(MESSAGE, "k");
    expect(result).toEqual({ kind, reason: `Resend answered ${statusCode}: ${name}: what it says` });
  });

  test("send() treats an answer that is not JSON, and none at all, as retry", async () => {
    answer = () => new Response("<html>Bad gateway</html>", { status: 502 });
    expect((await transport.send(MESSAGE, "k")).kind).toBe("retry");
    const nobody = createResendTransport({ apiKey: "re_test", from: "uam@example.org", baseUrl: "http://127.0.0.1:1" });
    expect((await nobody.send(MESSAGE, "k")).kind).toBe("retry");
  });

  test("send() refuses an address that is not one address, without a request", async () => {
    expect((await transport.send({ ...MESSAGE, to: "a@b.org, c@d.org" }, "k")).kind).toBe("reject");
    expect((await transport.send({ ...MESSAGE, subject: "a\r\nBcc: c@d.org" }, "k")).kind).toBe("reject");
    expect(seen).toHaveLength(0);
  });

  test("send() and verify() wait no longer than their timeout", async () => {
    const hasty = createResendTransport({
      apiKey: "re_test",
      from: "a@b.org",
      baseUrl: server.url.origin,
      timeout: 100,
    });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    answer = async () => {
      await late;
      return Response.json({ id: "1" });
    };
    expect((await hasty.send(MESSAGE, "k")).kind).toBe("retry");
    await expect(hasty.verify()).rejects.toMatchObject({ code: "internal" });
    // Whoever waited for it would still do so.
    resolve();
  });

  test("verify() accepts a key that may only send, and refuses a wrong one", async () => {
    answer = () =>
      Response.json({ statusCode: 401, name: "restricted_api_key", message: "only send" }, { status: 401 });
    await transport.verify();
    answer = () =>
      Response.json({ statusCode: 400, name: "invalid_api_key", message: "API key is invalid" }, { status: 400 });
    await expect(transport.verify()).rejects.toThrow("Resend cannot be used: API key is invalid");
    expect(seen.map(({ path }) => path)).toEqual(["/domains", "/domains"]);
  });
});
