/**
 * Request smuggling: what a proxy takes for one request and the service for two. Each is sent through a real nginx and a real HAProxy;
 * the service's own log says whether it saw the request that was hidden in another.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/port.ts";
import type { Target } from "./target.ts";

const NGINX = "/usr/sbin/nginx";
const HAPROXY = "/usr/sbin/haproxy";
/** What is hidden: no proxy forwards it by itself, as every request of ours to it names another path first. */
const HIDDEN_PATH = "/api/v1/console/config";
const HIDDEN = "GET /api/v1/console/config HTTP/1.1\r\nHost: localhost\r\n\r\n";
/** Milliseconds for an answer. */
const PATIENCE = 2000;

/** Requests with two readings. `#` stands for what is hidden. */
const READINGS: Readonly<Record<string, string>> = {
  "length and chunks": post("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\n#"),
  "chunks and a length that ends early": post(
    "Transfer-Encoding: chunked\r\nContent-Length: 4",
    "5c\r\n#\r\n0\r\n\r\n",
  ),
  "two lengths": post("Content-Length: 2\r\nContent-Length: 60", "{}#"),
  "a list of lengths": post("Content-Length: 2, 60", "{}#"),
  "a length with a sign": post("Content-Length: +2", "{}#"),
  "a length in hexadecimal": post("Content-Length: 0x2", "{}#"),
  "a length with a space before the colon": post("Content-Length : 2", "{}#"),
  "chunked with a space before the colon": post("Transfer-Encoding : chunked", "0\r\n\r\n#"),
  "chunked after a tab": post("Transfer-Encoding:\tchunked\r\nContent-Length: 5", "0\r\n\r\n#"),
  "chunked after a vertical tab": post("Transfer-Encoding:\x0bchunked\r\nContent-Length: 5", "0\r\n\r\n#"),
  "chunked in capitals": post("Transfer-Encoding: CHUNKED\r\nContent-Length: 5", "0\r\n\r\n#"),
  "chunked twice": post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 5", "0\r\n\r\n#"),
  "chunked among others": post("Transfer-Encoding: x, chunked\r\nContent-Length: 5", "0\r\n\r\n#"),
  "chunked in quotes": post('Transfer-Encoding: "chunked"\r\nContent-Length: 5', "0\r\n\r\n#"),
  "chunked on a folded line": post("Transfer-Encoding:\r\n chunked\r\nContent-Length: 5", "0\r\n\r\n#"),
  "chunked with a bare line feed": post("X: y\nTransfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n#"),
  "chunks that end with bare line feeds": post("Transfer-Encoding: chunked", "2\n{}\n0\n\n#"),
  "a chunk with an extension over a line": post("Transfer-Encoding: chunked", "2;a\nb\r\n{}\r\n0\r\n\r\n#"),
  "a chunk whose size has a sign": post("Transfer-Encoding: chunked", "+2\r\n{}\r\n0\r\n\r\n#"),
  "a chunk whose size overflows": post("Transfer-Encoding: chunked", "10000000000000002\r\n{}\r\n0\r\n\r\n#"),
  "trailers that look like a length": post("Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\nContent-Length: 60\r\n\r\n#"),
  "GET with a body": `GET /api/v1/healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${HIDDEN.length}\r\n\r\n#`,
  "HEAD with a body": `HEAD /api/v1/healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${HIDDEN.length}\r\n\r\n#`,
  "a body after Expect": post(`Expect: 100-continue\r\nContent-Length: ${HIDDEN.length}`, "#"),
  "an upgrade": `GET /api/v1/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nContent-Length: ${HIDDEN.length}\r\n\r\n#`,
  "a header that the connection takes away": post(
    `Connection: Content-Length\r\nContent-Length: ${HIDDEN.length}`,
    "#",
  ),
  "line breaks in the path": `GET /api/v1/healthz%0d%0aX:%20y%0d%0a%0d%0aGET%20/api/v1/console/config HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  "a NUL in a header": post("X: a\0b\r\nContent-Length: 2", "{}#"),
};

function post(headers: string, body: string): string {
  return `POST /api/v1/auth/otp/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;
}

/** Which readings got what they hide to the service, a line each; none is well. */
export async function smuggling({ service }: Target, tell: (line: string) => void): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), "uam-proxies-"));
  const faults: string[] = [];
  const upstream = new URL(service.origin).host;
  await send(Number(new URL(service.origin).port), HIDDEN);
  if (hiddenSeen(service.log()) !== 1)
    throw new Error("the service's log does not show the hidden request when it is sent openly");
  try {
    for (const [name, start] of Object.entries({ nginx, haproxy })) {
      const proxy = await start(directory, upstream);
      try {
        await passes(proxy.port, name);
        for (const [reading, text] of Object.entries(READINGS)) {
          // What the owner of a pipeline may ask openly must not come by being hidden: the proxy sees one request only.
          const [seenBefore, sentBefore] = [hiddenSeen(service.log()), proxy.forwarded(HIDDEN_PATH)];
          await send(proxy.port, text.replace("#", HIDDEN));
          await passes(proxy.port, name);
          const [seen, sent] = [hiddenSeen(service.log()), proxy.forwarded(HIDDEN_PATH)];
          if (seen - seenBefore > sent - sentBefore)
            faults.push(`${name}, ${reading}: the service saw what the proxy did not`);
        }
      } finally {
        proxy.stop();
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  tell(`${Object.keys(READINGS).length} requests with two readings, through nginx and HAProxy`);
  return faults;
}

interface Proxy {
  readonly port: number;
  /** How many requests for the path the proxy itself has seen. */
  forwarded(path: string): number;
  stop(): void;
}

async function nginx(directory: string, upstream: string): Promise<Proxy> {
  const port = await freePort();
  const file = join(directory, "nginx.conf");
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${directory}/nginx.pid; error_log ${directory}/error.log;
events {}
http {
  access_log ${directory}/access.log; ${places.join(" ")}
  upstream service { server ${upstream}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`,
  );
  return await started([NGINX, "-p", directory, "-c", file], port, join(directory, "access.log"));
}

async function haproxy(directory: string, upstream: string): Promise<Proxy> {
  const port = await freePort();
  const file = join(directory, "haproxy.cfg");
  writeFileSync(
    file,
    `global
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  http-reuse always
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend front
  bind 127.0.0.1:${port}
  default_backend service
backend service
  server one ${upstream}
`,
  );
  return await started([HAPROXY, "-db", "-f", file], port);
}

/** Waits until the proxy answers for the service; its log is in the file, or on its output. */
async function started(argv: readonly string[], port: number, logFile?: string): Promise<Proxy> {
  const child = Bun.spawn([...argv], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  let log = "";
  const follow = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const part of stream) log += decoder.decode(part, { stream: true });
  };
  void follow(child.stdout);
  void follow(child.stderr);
  const end = performance.now() + 10_000;
  while (!(await fetch(`http://127.0.0.1:${port}/api/v1/healthz`).catch(() => undefined))?.ok) {
    if (performance.now() > end) throw new Error(`${argv.join(" ")} does not answer:\n${log}`);
    await Bun.sleep(50);
  }
  const accesses = () => (logFile === undefined ? log : readFileSync(logFile, "utf8"));
  return { port, forwarded: (path) => accesses().split(path).length - 1, stop: () => child.kill("SIGKILL") };
}

/** Sends the bytes and returns what came until the other end closed or fell silent. */
function send(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text, "latin1"));
    socket.setTimeout(PATIENCE, () => socket.destroy());
    socket.on("data", (part) => {
      answer += part.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}

/** Throws unless each request, on connections of its own, gets the answer to itself: nothing is left in front of it. */
async function passes(port: number, proxy: string): Promise<void> {
  for (let index = 0; index < 4; index++) {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/healthz`, { keepalive: false });
    const text = await response.text();
    if (response.status !== 200 || !text.includes("ok"))
      throw new Error(`behind ${proxy}, a later request got ${response.status} ${text}`);
  }
}

function hiddenSeen(log: string): number {
  return log.split(`"${HIDDEN_PATH}"`).length - 1;
}
