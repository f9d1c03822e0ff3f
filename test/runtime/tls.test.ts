import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { bunRuntime } from "../../src/runtime/bun.ts";
import type { RunningServer, ServeOptions } from "../../src/runtime/runtime.ts";
import { readTlsPair } from "../../src/runtime/tls.ts";
import { ADMIN_PASSWORD, createTestApp } from "../support/app.ts";
import { needs } from "../support/tools.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-tls-"));
const files = { cert: join(top, "cert.pem"), key: join(top, "key.pem") };
const servers: RunningServer[] = [];
const hasProgram = needs("openssl");
if (hasProgram) for (const name of ["one", "two"]) makePair(name);

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(0);
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

function makePair(name: string): void {
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const out = ["-keyout", join(top, `${name}.key`), "-out", join(top, `${name}.crt`), "-subj", `/CN=${name}`];
  const result = spawnSync("openssl", [...args, ...out], { encoding: "utf8" });
  if (result.status !== 0) throw new Error(result.stderr);
}

function usePair(certificate: string, key = certificate): void {
  copyFileSync(join(top, `${certificate}.crt`), files.cert);
  copyFileSync(join(top, `${key}.key`), files.key);
}

async function start(options: Partial<ServeOptions> = {}): Promise<RunningServer> {
  const server = await bunRuntime.serve({
    listen: { kind: "tcp", hostname: "127.0.0.1", port: 0 },
    fetch: async () => new Response("hello"),
    ...options,
  });
  servers.push(server);
  return server;
}

/** The common name on the certificate that a new connection is shown. */
function nameShownAt(address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: Number(new URL(address).port), rejectUnauthorized: false };
    const socket = connect(options, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

const insecure = { tls: { rejectUnauthorized: false } };

/** What the service chooses of what a client offers, by openssl's name; "" if it takes none of it. */
async function chosen(address: string, version: string, offered: string): Promise<string> {
  const client = Bun.spawn(
    ["openssl", "s_client", "-connect", new URL(address).host, `-${version}`, "-cipher", `${offered}:@SECLEVEL=0`],
    { stdin: "ignore", stdout: "pipe", stderr: "ignore" },
  );
  const [, cipher = ""] = /Cipher is (\S+)/.exec(await client.stdout.text()) ?? [];
  return cipher === "(NONE)" ? "" : cipher;
}

describe.if(hasProgram)("serve with a certificate", () => {
  test("takes nothing older than TLS 1.2, and of that only authenticated encryption, in its own order", async () => {
    usePair("one");
    const { address } = await start({ tls: files });
    expect(await chosen(address, "tls1_1", "ALL")).toBe("");
    expect(await chosen(address, "tls1_2", "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:AES128-SHA")).toBe("");
    const [weaker, stronger] = ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"];
    const first = await chosen(address, "tls1_2", `${weaker}:${stronger}`);
    expect([weaker, stronger]).toContain(first);
    expect(await chosen(address, "tls1_2", `${stronger}:${weaker}`)).toBe(first);
    expect(await chosen(address, "tls1_2", "ECDHE-ECDSA-CHACHA20-POLY1305")).toBe("ECDHE-ECDSA-CHACHA20-POLY1305");
  });

  test("reload() shows new connections the new certificate and lets the request in flight finish", async () => {
    usePair("one");
    const released = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const server = await start({
      tls: files,
      fetch: async (request, peer) => {
        if (request.url.endsWith("/slow")) {
          arrived.resolve();
          await released.promise;
        }
        return new Response(peer);
      },
    });
    expect(server.address).toStartWith("https://");
    expect(await nameShownAt(server.address)).toBe("one");
    const slow = fetch(`${server.address}/slow`, insecure);
    await arrived.promise;
    usePair("two");
    const loaded = await server.reload?.();
    expect(loaded?.certificateValidTo.getTime()).toBeGreaterThan(Date.now());
    for (let attempt = 0; attempt < 20; attempt++) expect(await nameShownAt(server.address)).toBe("two");
    released.resolve();
    const answer = await slow;
    expect([answer.status, await answer.text()]).toEqual([200, "127.0.0.1"]);
  });

  test("reload() keeps the old certificate when the new pair cannot be used, and says why", async () => {
    usePair("one");
    const server = await start({ tls: files });
    usePair("two", "one");
    expect(server.reload?.()).rejects.toThrow(`The key ${files.key} does not belong to the certificate ${files.cert}`);
    writeFileSync(files.cert, "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n");
    expect(server.reload?.()).rejects.toThrow(`UAM_TLS_CERT contains no certificate: ${files.cert}`);
    expect(await nameShownAt(server.address)).toBe("one");
    usePair("two");
    await server.reload?.();
    expect(await nameShownAt(server.address)).toBe("two");
  });

  test("the application answers over TLS: paths, bodies, cookies", async () => {
    usePair("one");
    const service = await createTestApp();
    try {
      const server = await start({ tls: files, fetch: (request, peer) => service.app.fetch(request, peer) });
      await service.admin();
      const answer = await fetch(`${server.address}/api/v1/auth/admin/login`, {
        ...insecure,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ username: "admin", password: ADMIN_PASSWORD }),
      });
      expect(answer.status).toBe(200);
      const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
      const me = await fetch(`${server.address}/api/v1/auth/me`, { ...insecure, headers: { cookie } });
      expect([me.status, await me.json()]).toMatchObject([200, { data: { username: "admin" } }]);
    } finally {
      await service.close();
    }
  }, 180_000);

  test("serve() refuses a port that is taken, although a reload shares it with itself", async () => {
    usePair("one");
    const server = await start({ tls: files });
    const port = Number(new URL(server.address).port);
    const again = start({ tls: files, listen: { kind: "tcp", hostname: "127.0.0.1", port } });
    expect(again).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}`);
  });

  test("stop() also ends servers that a reload left behind with a request", async () => {
    usePair("one");
    const arrived = Promise.withResolvers<void>();
    const server = await start({
      tls: files,
      fetch: () => {
        arrived.resolve();
        return new Promise(() => {});
      },
    });
    const slow = fetch(server.address, insecure).then(
      () => "answered",
      () => "cut",
    );
    await arrived.promise;
    await server.reload?.();
    await server.stop(50);
    expect(await slow).toBe("cut");
  });

  test("readTlsPair() names the variable whose file is missing, and shows nothing of a key", () => {
    usePair("one");
    expect(() => readTlsPair({ ...files, cert: "/nonexistent" })).toThrow(
      "UAM_TLS_CERT names a file that cannot be read: /nonexistent",
    );
    writeFileSync(files.key, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
    expect(() => readTlsPair(files)).toThrow(
      `UAM_TLS_KEY contains no private key, or one with a passphrase: ${files.key}`,
    );
  });
});

describe("serve on a unix socket", () => {
  test("serve() makes a socket for owner and group, whatever the umask, and replaces one that a crash left", async () => {
    const path = join(top, "uam.sock");
    const stale = createServer();
    await new Promise<void>((resolve) => stale.listen(path, resolve));
    const umask = process.umask(0o077);
    try {
      // What a crash leaves: the file, with nobody behind it.
      spawnSync("cp", ["-a", path, `${path}.left`]);
      await new Promise((resolve) => stale.close(resolve));
      spawnSync("mv", [`${path}.left`, path]);
      await start({ listen: { kind: "unix", path } });
      expect(process.umask()).toBe(0o077);
    } finally {
      process.umask(umask);
    }
    expect(statSync(path).mode & 0o777).toBe(0o660);
    const answer = await fetch("http://localhost/", { unix: path });
    expect(await answer.text()).toBe("hello");
  });
});
