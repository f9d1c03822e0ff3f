/** The proxies of docs/proxies.md, with the very settings of that page, in front of the service. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSeal } from "../src/domain/audit/seal.ts";
import { fleetSecrets } from "../src/domain/wire/fleet-key.ts";
import { createAgent, type TestAgent } from "./support/agent.ts";
import { type Certificate, makeCertificate } from "./support/certificate.ts";
import { documentText } from "./support/documents.ts";
import { freePort } from "./support/port.ts";
import { programs } from "./support/programs.ts";
import { type Service, startProgram } from "./support/service.ts";
import { describeSlowIf } from "./support/thorough.ts";
import { needs } from "./support/tools.ts";
import { until } from "./support/until.ts";

const SOCKET = "/run/uam/uam.sock";
const AUDIT_KEY = "ab".repeat(32);
/** Of the loopback network, and not the proxy's. */
const CLIENT = "127.0.0.9";

interface Ports {
  readonly http: number;
  readonly https: number;
}

interface Proxy {
  readonly program: string;
  /** How the proxy writes an address to listen on, as in UAM_LISTEN. */
  readonly upstream: (listen: string) => string;
  /** The arguments, once what it reads is in the directory. */
  readonly prepare: (block: string, directory: string, ports: Ports, certificate: Certificate) => readonly string[];
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    program: "nginx",
    upstream: (listen) => `server ${listen};`,
    prepare: (block, directory, { http, https }, { certFile, keyFile }) => {
      const site = replaced(block, {
        "listen 80;": `listen 127.0.0.1:${http};`,
        "listen 443 ssl;": `listen 127.0.0.1:${https} ssl;`,
        "/etc/ssl/uam/fullchain.pem": certFile,
        "/etc/ssl/uam/privkey.pem": keyFile,
      });
      const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${join(directory, name)};`,
      );
      const user = process.getuid?.() === 0 ? "user root;" : "";
      const config = join(directory, "nginx.conf");
      const http_ = `http { access_log off; ${places.join(" ")}\n${site}\n}`;
      writeFileSync(config, `daemon off; pid ${join(directory, "nginx.pid")}; ${user}\nevents {}\n${http_}\n`);
      return ["-c", config, "-e", "stderr"];
    },
  },
  caddy: {
    program: "caddy",
    upstream: (listen) => `reverse_proxy ${listen.replace("unix:", "unix/")} {`,
    prepare: (block, directory, { http, https }, { certFile, keyFile }) => {
      // A certificate from outside cannot be had here.
      const site = replaced(block, { "uam.example.org {": `uam.example.org {\n\ttls ${certFile} ${keyFile}` });
      const config = join(directory, "Caddyfile");
      writeFileSync(config, `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n}\n${site}`);
      return ["run", "--adapter", "caddyfile", "--config", config];
    },
  },
};

/** The text with each of these replaced; throws for one that is not there. */
function replaced(text: string, by: Readonly<Record<string, string>>): string {
  return Object.entries(by).reduce((result, [old, value]) => {
    if (!result.includes(old)) throw new Error(`docs/proxies.md has no "${old}"`);
    return result.replace(old, value);
  }, text);
}

function blockOf(language: string): string {
  const [, block] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(documentText("docs/proxies.md")) ?? [];
  if (block === undefined) throw new Error(`docs/proxies.md has no block for ${language}`);
  return block;
}

interface Lab {
  readonly service: Service;
  /** Asks through the proxy, from an address of its own, as browsers and agents do: by the service's name. */
  readonly ask: (path: string, args?: readonly string[], input?: string) => Promise<Response>;
  /** An agent, through the proxy, of a host that has joined and has taken what there is. */
  readonly agent: () => Promise<TestAgent>;
  /** Stops the service and returns a function that starts it again, beside the same proxy. */
  readonly stop: () => Promise<() => Promise<void>>;
  readonly close: () => Promise<void>;
}

/** The service on a socket as in the document, or on a port of the loopback address, behind the proxy. */
async function openLab(name: string, listen: "socket" | "port"): Promise<Lab> {
  const directory = mkdtempSync(join(tmpdir(), `uam-${name}-`));
  const certificate = makeCertificate(directory, "DNS:uam.example.org");
  const ports = { http: await freePort(), https: await freePort() };
  const address = listen === "socket" ? `unix:${join(directory, "uam.sock")}` : `127.0.0.1:${await freePort()}`;
  const serve = () =>
    startProgram(programs().bun, directory, {
      ...{ UAM_LISTEN: address, UAM_BASE_URL: "https://uam.example.org", UAM_AUDIT_KEY: AUDIT_KEY },
      UAM_TRUSTED_PROXIES: listen === "socket" ? "unix" : "127.0.0.1",
    });
  let service = await serve();
  const { program, prepare, upstream } = PROXIES[name] as Proxy;
  const block = replaced(blockOf(name), { [upstream(`unix:${SOCKET}`)]: upstream(address) });
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: directory, XDG_DATA_HOME: directory };
  const proxy = spawn(program, prepare(block, directory, ports, certificate), { cwd: directory, env, stdio: "ignore" });
  const lab: Lab = {
    get service() {
      return service;
    },
    ask: (path, args = [], input = "") => askBy([...argumentsFor(certificate, ports), ...args], path, input),
    agent: async () => {
      const key = fleetSecrets(createSeal(Buffer.from(AUDIT_KEY, "hex"))).publicKey;
      const agent = createAgent((target, init) => reach(lab, target, init), key);
      const line = service.run(["host", "token", "--name", agent.name, "--group", "default"]).stdout;
      const enrolled = await agent.enrol(/uamj_\S+/.exec(line)?.[0] ?? "");
      if (enrolled.status !== 201) throw new Error(`the host could not join: ${enrolled.error}`);
      await agent.state();
      await agent.report();
      return agent;
    },
    stop: async () => {
      await service.stop();
      return async () => {
        service = await serve();
      };
    },
    close: async () => {
      const ended = once(proxy, "exit");
      if (proxy.exitCode === null && proxy.kill()) await ended;
      await service.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await until(async () => (await lab.ask("/api/v1/readyz")).status === 200);
  return lab;
}

/** For curl: where the service's name leads, and from which address. */
function argumentsFor({ certFile }: Certificate, { http, https }: Ports): readonly string[] {
  return [
    ...["-sS", "-i", "--http1.1", "-H", "Expect:", "--interface", CLIENT, "--cacert", certFile],
    ...["--connect-to", `uam.example.org:443:127.0.0.1:${https}`],
    ...["--connect-to", `uam.example.org:80:127.0.0.1:${http}`],
  ];
}

async function askBy(args: readonly string[], path: string, input: string): Promise<Response> {
  const url = path.startsWith("http") ? path : `https://uam.example.org${path}`;
  const body = input === "" ? [] : ["--data-binary", "@-"];
  const streams = { stdin: Buffer.from(input), stdout: "pipe", stderr: "ignore" } as const;
  const answer = await new Response(Bun.spawn(["curl", ...args, ...body, url], streams).stdout).text();
  const [head = "", ...rest] = answer.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const status = Number(line.split(" ")[1] ?? 0);
  const headers = lines.map((each): [string, string] => {
    const colon = each.indexOf(":");
    return [each.slice(0, colon), each.slice(colon + 1).trim()];
  });
  // Without an answer there is no status that a Response could have.
  return new Response(rest.join("\r\n\r\n"), { status: status >= 200 ? status : 599, headers: new Headers(headers) });
}

/** A request to the API's root, as an agent makes it. */
async function reach({ ask }: Lab, target: string, init: RequestInit): Promise<Response> {
  const headers = Object.entries(init.headers as Record<string, string>);
  const args = ["-X", init.method ?? "GET", ...headers.flatMap(([name, value]) => ["-H", `${name}: ${value}`])];
  return await ask(`/api/v1${target}`, args, typeof init.body === "string" ? init.body : "");
}

const JSON_BODY = ["-H", "Content-Type: application/json"];
const isPossible = needs("nginx", "caddy", "curl");

describeSlowIf(isPossible).each(Object.keys(PROXIES))("%s, as in docs/proxies.md", (name) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab(name, "socket");
  });
  afterAll(() => lab?.close());

  test("shows the login page over HTTPS, with the service's own headers, and leads there from HTTP", async () => {
    const page = await lab.ask("/", ["-H", "Accept: text/html"]);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<!doctype html>")]);
    expect(page.headers.get("strict-transport-security")).toContain("max-age=");
    expect(page.headers.get("content-security-policy")).toContain("script-src");
    const plain = await lab.ask("http://uam.example.org/login");
    expect([301, 308]).toContain(plain.status);
    expect(plain.headers.get("location")).toBe("https://uam.example.org/login");
  });

  test("hands on the client's address, and none that the client makes up", async () => {
    const body = JSON.stringify({ username: "nobody", password: "not the right one" });
    const spoofed = ["X-Forwarded-For: 198.51.100.7", "X-Forwarded-For: 198.51.100.8, 198.51.100.9"];
    const origin = ["-H", "Origin: https://uam.example.org"];
    for (const header of spoofed) {
      const refused = await lab.ask("/api/v1/auth/admin/login", [...JSON_BODY, ...origin, "-H", header], body);
      expect(refused.status).toBe(401);
    }
    const records = lab.service.run(["audit", "list", "--action", "auth.admin_login", "--json"]).stdout;
    expect([...records.matchAll(/"ip": ?"([^"]*)"/g)].map(([, ip]) => ip)).toEqual(spoofed.map(() => CLIENT));
    expect(records + lab.service.log()).not.toContain("198.51.100");
  });

  test("lets the service refuse a body that is too large, in its own words", async () => {
    for (const size of [70_000, 5 * 2 ** 20, 7 * 2 ** 20]) {
      const body = JSON.stringify({ username: "x".repeat(size) });
      const refused = await lab.ask("/api/v1/auth/admin/login", JSON_BODY, body);
      const said = { error: "The body is larger than 65536 bytes" };
      expect([size, refused.status, await refused.json()]).toEqual([size, 413, said]);
    }
  });

  test("keeps an agent's request, and brings its news", async () => {
    const agent = await lab.agent();
    const news = agent.state(60);
    expect(lab.service.run(["user", "create", "alice", "--email", "alice@example.org"]).status).toBe(0);
    expect((await news).accounts.map((account) => account.name)).toEqual(["ext_alice"]);
  });

  test("says as JSON that the service is away, and goes on once it is back", async () => {
    const start = await lab.stop();
    const away = await lab.ask("/api/v1/readyz");
    const { headers } = away;
    expect([away.status, headers.get("content-type"), headers.get("retry-after")]).toEqual([
      503,
      "application/json",
      "5",
    ]);
    expect(await away.json()).toEqual({ error: expect.stringContaining("not running") });
    await start();
    await until(async () => (await lab.ask("/api/v1/readyz")).status === 200);
  });
});

describeSlowIf(isPossible)("both, in front of a port", () => {
  test("keep an agent's request for as long as the service does", async () => {
    const labs = await Promise.all(Object.keys(PROXIES).map((name) => openLab(name, "port")));
    try {
      // Over TCP that is a minute. An answer that is not signed, such as a proxy's own, throws.
      const states = await Promise.all(labs.map(async (lab) => (await lab.agent()).state(60)));
      expect(states.map(({ accounts }) => accounts)).toEqual([[], []]);
    } finally {
      await Promise.all(labs.map((lab) => lab.close()));
    }
  });
});
