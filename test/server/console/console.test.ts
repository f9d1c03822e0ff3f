import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from "node:zlib";
import { createConsole, PAGE_POLICY } from "../../../src/server/console/console.ts";
import { PAGES } from "../../../src/shared/product/pages.ts";
import { SECOND } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { PNG, WEBP } from "../../support/logo.ts";

const FILE = {
  type: "text/javascript; charset=utf-8",
  br: brotliCompressSync("code").toString("base64"),
};
const COMMAND = "uam admin add root-admin --email you@example.org";

let app: TestApp;
beforeAll(async () => {
  const pages = createConsole({ page: "<!doctype html><title>pages</title>", files: { "main-1.js": FILE } });
  app = await createTestApp({}, { pages, setupCommand: COMMAND });
});
afterAll(() => app.close());

function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> {
  return app.app.fetch(new Request(`http://127.0.0.1:8080${path}`, { method, headers }), "192.0.2.1");
}

describe("pages", () => {
  test.each(Object.values(PAGES).map((path) => path.replace(":id", "7")))("%s is the document", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toBe(PAGE_POLICY);
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("x-frame-options")).toBe("DENY");
    expect(await response.text()).toContain("<title>pages</title>");
  });

  const NONE = [
    ...["//", "/login//", "/Login", "/%6cogin", "/login.", "/admin/users/7%0a", "/admin/users/x"],
    ...["/admin/users/7/keys", "/wp-login.php", "/index.html"],
  ];
  const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

  test.each(NONE)("%s is none, which a person is told by the document", async (path) => {
    const response = await get(path, { accept: BROWSER });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toBe(PAGE_POLICY);
    expect([response.headers.get("cache-control"), response.headers.get("etag")]).toEqual(["no-store", null]);
    expect(response.headers.get("vary")).toBe("Accept");
    expect(await response.text()).toContain("<title>pages</title>");
    const head = await get(path, { accept: BROWSER }, "HEAD");
    expect([head.status, await head.text()]).toEqual([404, ""]);
  });

  test.each([
    ["/Login", "POST", BROWSER],
    ["/Login", "GET", "*/*"],
    ["/Login", "GET", "application/json, text/html;q=0"],
    ["/api/v1/nothing", "GET", BROWSER],
    ["/api/", "GET", BROWSER],
    ["/assets/other.js", "GET", BROWSER],
    ["/assets", "GET", BROWSER],
  ])("%s by %s for %s is answered as the API does", async (path, method, accept) => {
    const response = await get(path, { accept }, method);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: expect.any(String) });
  });

  test.each([...NONE, "/assets/other.js", "/assets/../main-1.js"])("%s is none", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: expect.any(String) });
    expect(response.headers.get("content-security-policy")).not.toBe(PAGE_POLICY);
  });

  test("cannot be changed", async () => {
    const response = await get("/login", {}, "POST");
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
  });

  test("cost no body behind a proxy either, which makes the tag a weak one, or where several are known", async () => {
    const tag = (await get("/")).headers.get("etag") ?? "";
    for (const known of [`W/${tag}`, `"other", ${tag}`, `"other",W/${tag}`, "*"]) {
      expect((await get("/", { "if-none-match": known })).status).toBe(304);
    }
    for (const unknown of ['"other"', tag.slice(0, -2), `W/"x${tag.slice(1)}`]) {
      expect((await get("/", { "if-none-match": unknown })).status).toBe(200);
    }
  });

  test("cost no body while they have not changed, and none for HEAD", async () => {
    const first = await get("/");
    const again = await get("/", { "if-none-match": first.headers.get("etag") ?? "" });
    expect(again.status).toBe(304);
    const head = await get("/", {}, "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(first.headers.get("content-length"));
  });
});

describe("a logo", () => {
  test("is a file that is kept, under a name of its own; an older one is none any more", async () => {
    const [first, second] = ["png", "webp"].map((type) => ({
      ...{ path: `/assets/logo-0123456789abcdef.${type}`, type: `image/${type}` },
      bytes: new Uint8Array(type === "png" ? PNG : WEBP),
    }));
    let present = first;
    const pages = createConsole({ page: "", files: {} }, () => present);
    const branded = await createTestApp({}, { pages, logo: () => present?.path });
    const ask = (path: string, method = "GET") =>
      branded.app.fetch(new Request(`http://127.0.0.1:8080${path}`, { method }), "192.0.2.1");
    expect((await branded.anonymous().call("GET", "/console/config")).body.data.logo).toBe(first?.path);
    const response = await ask(first?.path ?? "");
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "cache-control": "public, max-age=31536000, immutable",
      "content-length": String(PNG.length),
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
    expect(await (await ask(first?.path ?? "", "HEAD")).text()).toBe("");
    present = second;
    expect((await branded.anonymous().call("GET", "/console/config")).body.data.logo).toBe(second?.path);
    expect([(await ask(first?.path ?? "")).status, (await ask(second?.path ?? "")).status]).toEqual([404, 200]);
    await branded.close();
  });
});

describe("scripts and styles", () => {
  test.each([
    ["br, gzip", "br"],
    ["gzip", "gzip"],
    ["gzip;q=1.0, br;q=0", "gzip"],
    ["identity", null],
    ["", null],
  ])("for %p are encoded as %p, and kept", async (accepted, encoding) => {
    const response = await get("/assets/main-1.js", { "accept-encoding": accepted });
    expect(response.headers.get("content-encoding")).toBe(encoding);
    expect(response.headers.get("cache-control")).toContain("immutable");
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(response.headers.get("content-type")).toBe(FILE.type);
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ""] ?? ((bytes: Uint8Array) => bytes);
    expect(Buffer.from(unpack(await response.bytes())).toString()).toBe("code");
  });

  test("vary by their encoding where other origins are listed, too", async () => {
    const pages = createConsole({ page: "", files: { "main-1.js": FILE } });
    const listing = await createTestApp({ UAM_CORS_ORIGINS: "https://portal.example.org" }, { pages });
    const request = new Request("http://127.0.0.1:8080/assets/main-1.js", { headers: { "accept-encoding": "br" } });
    const { headers } = await listing.app.fetch(request, "192.0.2.1");
    expect(headers.get("vary")).toBe("Accept-Encoding, Origin");
    await listing.close();
  });
});

describe("GET /console/config", () => {
  test("names the command that makes the first administrator, until there is one", async () => {
    const empty = await createTestApp(
      { UAM_CONTACT: "help@example.org", UAM_BRAND_NAME: "Example Corp" },
      { setupCommand: COMMAND },
    );
    const before = await empty.anonymous().call("GET", "/console/config");
    expect(before.body.data).toEqual({
      ...{ version: "0.0.0-test", captcha: "both", contact: "help@example.org", sso: null },
      ...{ brand: "Example Corp", logo: null, dry_run: true, sponsor: "optional", terms: false },
      setup: { command: COMMAND },
    });
    await empty.admin();
    empty.clock.advance(SECOND);
    expect((await empty.anonymous().call("GET", "/console/config")).body.data.setup).toBeNull();
    await empty.close();
  });
});

describe("logging out", () => {
  test("has the browser forget what it kept", async () => {
    const { client } = await app.user("leaver");
    const answer = await client.call("POST", "/auth/logout");
    expect(answer.headers.get("clear-site-data")).toBe('"cache", "storage"');
  });
});
