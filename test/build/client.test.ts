/** deploy/client against the service on each runtime, and what of the interface would break the clients of the last release. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type Client, createClient, UamError } from "../../deploy/client/client.js";
import type { Operations } from "../../deploy/client/operations.js";
import type { Released } from "../../deploy/client/released.js";
import { ROUTES } from "../../deploy/client/routes.js";
import { createToken } from "../../src/domain/auth/tokens/tokens.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { apiDocument } from "../support/openapi.ts";
import { programs } from "../support/programs.ts";

const JOURNEY = join(import.meta.dir, "support/client-journey.mjs");
const [deno = ""] = programs().deno;
const RUNTIMES = {
  bun: [process.execPath],
  deno: [deno, "run", "--allow-net", "--no-prompt"],
  node: ["node"],
} as const;

let app: TestApp;
let server: ReturnType<typeof Bun.serve>;
let baseUrl = "";
let token = "";
let uam: Client;
beforeAll(async () => {
  app = await createTestApp();
  await app.admin();
  token = (
    await createToken(app.system, { owner: "admin" }, { name: "client", role: "operator", days: 1, networks: [] })
  ).token;
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => app.app.fetch(request, "127.0.0.1") });
  baseUrl = `http://127.0.0.1:${server.port}`;
  uam = createClient({ baseUrl, token });
});
afterAll(async () => {
  await server.stop(true);
  await app.close();
});

describe("deploy/client", () => {
  test.each(Object.entries(RUNTIMES))("does the same on %s, without anything but its own files", async (name, argv) => {
    if (name === "deno" && !existsSync(deno)) throw new Error(`${deno} is missing: bun install`);
    const argument = `u${name}`;
    const child = Bun.spawn([...argv, JOURNEY, baseUrl, token, argument], { stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect([await child.exited, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({
      paged: [1, 2, 3].map((number) => `${argument}${number}`),
      total: 3,
      one: `${argument}1`,
      csv: true,
      missing: [true, 404, "user.missing", true],
      taken: [409, "user.taken"],
      withoutToken: [true, 401, "session.missing", true],
      health: "ok",
    });
  });

  test("has each operation of the document that programs call, with its method and path", () => {
    const documented = Object.entries(apiDocument.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId, responses, "x-permission": permission }]) =>
        permission === "agent" || !Object.keys(responses).some((status) => status.startsWith("2"))
          ? []
          : [[operationId, [method.toUpperCase(), path]] as const],
      ),
    );
    expect(documented.length).toBeGreaterThan(100);
    expect<object>(ROUTES).toEqual(Object.fromEntries(documented));
  });

  test("keeps an answer that is not the service's apart from its refusals, and follows no redirect", async () => {
    const answering = (response: () => Response) =>
      createClient({ baseUrl, token, fetch: (async () => response()) as unknown as typeof fetch });
    const proxy = answering(() => new Response("<h1>Bad Gateway</h1>", { status: 502 }));
    const error = await proxy.call("listUsers").catch((each: unknown) => each);
    expect(error).toBeInstanceOf(UamError);
    expect(error).toMatchObject({ status: 502, reason: "", message: "GET /api/v1/users: 502" });
    const elsewhere = Bun.serve({ port: 0, fetch: () => Response.redirect(baseUrl, 307) });
    try {
      const lost = createClient({ baseUrl: `http://127.0.0.1:${elsewhere.port}`, token });
      await expect(lost.call("listUsers")).rejects.toThrow();
    } finally {
      await elsewhere.stop(true);
    }
  });

  test("is typed: what the document does not have does not compile", async () => {
    const { items } = await uam.call("listUsers", { query: { status: "active" } });
    const names: readonly string[] = items.map(({ username }) => username);
    expect(names.length).toBeGreaterThan(0);
    // @ts-expect-error there is no such status
    await expect(uam.call("listUsers", { query: { status: "asleep" } })).rejects.toThrow();
    // @ts-expect-error a path is needed
    await expect(uam.call("getUser")).rejects.toThrow();
    // @ts-expect-error this is not a list of pages
    const none = () => uam.all("getUser", { path: { id: 1 } });
    expect(none).toBeFunction();
  });
});

/** Names, also of what may be left out. */
type Keys<T> = T extends object ? keyof T : never;
type Takes<Old, New> = Old extends New
  ? {
      [Place in keyof Old]-?: Keys<NonNullable<Old[Place]>> extends Keys<NonNullable<New[Place & keyof New]>>
        ? never
        : Place;
    }[keyof Old]
  : keyof Old | "all";

/** The operations of `Old` that are gone or elsewhere, do not take what they took, or do not answer what they answered. */
type Broken<Old, New> = {
  [Name in keyof Old]: Name extends keyof New
    ? Old[Name] extends { route: infer Route; input: infer Input; answer: infer Answer }
      ? New[Name] extends { route: Route; input: infer NewInput; answer: infer NewAnswer }
        ? [Takes<Input, NewInput>] extends [never]
          ? NewAnswer extends Answer
            ? never
            : Name
          : Name
        : Name
      : Name
    : Name;
}[keyof Old];

describe("clients of the last release", () => {
  // The compiler names the operations here. What is meant to break them is for a new major version of the interface.
  const nothing: [Broken<Released, Operations>] extends [never] ? "nothing" : Broken<Released, Operations> = "nothing";

  test("are broken by nothing", () => expect<string>(nothing).toBe("nothing"));

  test("would be by less than they rely on, and are not by more", () => {
    type Before = {
      same: { route: "GET /same"; input: { query?: { page?: number } }; answer: { id: number } };
      gone: { route: "GET /gone"; input: Record<never, never>; answer: undefined };
      lost: { route: "GET /lost"; input: { query?: { page?: number; sort?: string } }; answer: { id: number } };
      asks: { route: "GET /asks"; input: { body: { name: string } }; answer: { id: number } };
      less: { route: "GET /less"; input: Record<never, never>; answer: { id: number; name: string } };
      other: { route: "GET /other"; input: Record<never, never>; answer: { id: number } };
      moved: { route: "GET /moved"; input: Record<never, never>; answer: { id: number } };
    };
    type After = {
      same: {
        route: "GET /same";
        input: { query?: { page?: number; q?: string } };
        answer: { id: number; more: string };
      };
      lost: { route: "GET /lost"; input: { query?: { page?: number } }; answer: { id: number } };
      asks: { route: "GET /asks"; input: { body: { name: string; why: string } }; answer: { id: number } };
      less: { route: "GET /less"; input: Record<never, never>; answer: { id: number } };
      other: { route: "GET /other"; input: Record<never, never>; answer: { id: string } };
      moved: { route: "GET /away"; input: Record<never, never>; answer: { id: number } };
    };
    const broken: Record<Broken<Before, After>, true> = {
      gone: true,
      lost: true,
      asks: true,
      less: true,
      other: true,
      moved: true,
    };
    expect(Object.keys(broken)).toHaveLength(6);
  });
});
