/** The fetch handler served by Bun. */

import { constants } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { UamError } from "../shared/errors.ts";
import { COMMIT } from "../shared/version.ts";
import { openKernel } from "./bun-kernel.ts";
import { faultResponse } from "./fault.ts";
import type { RunningServer, Runtime, ServeOptions } from "./runtime.ts";
import { openNotifier } from "./sd-notify.ts";
import { removeStaleSocket } from "./stale-socket.ts";
import { readTlsPair } from "./tls.ts";

export const bunRuntime: Runtime = {
  name: `bun ${Bun.version}`,
  pid: process.pid,
  program: COMMIT === "source" ? [process.execPath, join(import.meta.dirname, "../main.ts")] : [process.execPath],
  serve,
  release: () => void Bun.shrink(),
  openNotifier,
  openKernel,
};

/** Owner and group may connect: a proxy gets access through the group. */
const SOCKET_UMASK = 0o117;

/**
 * Seconds in which the head of a request has to come, the first or the next one of a connection. Bun looks every four seconds, and what drips in does
 * not begin them again. With the 14 seconds of a body (server/api/http/body.ts) a request is whole within 30.
 */
const HEAD = 12;
/** Seconds that a request may be worked on without a byte of its answer. */
const WORK = 60;

/**
 * Seconds for all of that on a unix socket, because `timeout` does nothing there: a connection is closed within 30, and what takes longer is answered
 * to nobody. Bun's types do not know that this applies to unix sockets, hence `object`.
 */
const ON_UNIX: object = { idleTimeout: 24 };
/** Seconds that an answer waits there. */
const HELD_ON_UNIX = 20;

interface BunServer {
  stop(force?: boolean): Promise<void>;
}

async function serve(options: ServeOptions): Promise<RunningServer> {
  const { listen, fetch } = options;
  const common = {
    // The application refuses large bodies itself, unread and with a reason; Bun's own 413 is empty.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    error: faultResponse,
  };
  if (listen.kind === "unix") {
    await removeStaleSocket(listen.path);
    const umask = process.umask(SOCKET_UMASK);
    try {
      const server = Bun.serve({
        ...common,
        ...ON_UNIX,
        unix: listen.path,
        fetch: (request) => fetch(withAddress(request), undefined, () => HELD_ON_UNIX),
      });
      return { address: `unix:${listen.path}`, stop: (milliseconds) => drain(server, milliseconds) };
    } finally {
      process.umask(umask);
    }
  }
  const { hostname, port } = listen;
  const open = (at: number, tls: Tls) =>
    Bun.serve({
      ...common,
      ...tls,
      idleTimeout: HEAD,
      hostname,
      port: at,
      fetch: async (received, self) => {
        let next = HEAD;
        self.timeout(received, WORK);
        const response = await fetch(withAddress(received), self.requestIP(received)?.address, (seconds) => {
          // A connection held without end stays so until it ends: Bun keeps the time for the requests after it.
          if (seconds === 0) next = 0;
          self.timeout(received, seconds);
          return seconds;
        });
        self.timeout(received, next);
        if (next === 0) response.headers.set("connection", "close");
        return response;
      },
    });
  if (options.tls !== undefined) return await serveTls(options.tls, { hostname, port }, open);
  const server = open(port, {});
  return { address: server.url.origin, stop: (milliseconds) => drain(server, milliseconds) };
}

/**
 * The request with the complete URL that the standard guarantees. Without a Host, which HTTP/1.0 allows (some health checks
 * use it), or with an invalid one, Bun's URL is only a path, or cannot be parsed.
 */
function withAddress(request: Request): Request {
  if (URL.canParse(request.url)) return request;
  const path = request.url.replace(/^https?:\/\/[^/]*/, "");
  return new Request(`http://localhost${path.startsWith("/") ? path : "/"}`, request);
}

type Tls = {
  readonly tls?: { readonly cert: string; readonly key: string } & typeof TLS_CHOICE;
  readonly reusePort?: true;
};

/** Of TLS 1.2 only what has forward secrecy and authenticated encryption, in the service's order; TLS 1.3 has nothing else. */
const TLS_CHOICE = {
  ciphers: "ECDHE+AESGCM:ECDHE+CHACHA20",
  secureOptions: constants.SSL_OP_CIPHER_SERVER_PREFERENCE,
} as const;

/** Bun cannot change a server's certificate: a second server takes over the port while the first finishes its requests. */
async function serveTls(
  files: NonNullable<ServeOptions["tls"]>,
  at: { readonly hostname: string; readonly port: number },
  open: (port: number, tls: Tls) => BunServer & { readonly url: URL; readonly port: number | undefined },
): Promise<RunningServer> {
  const start = (port: number) => {
    const { cert, key, validTo } = readTlsPair(files);
    return { server: open(port, { tls: { cert, key, ...TLS_CHOICE }, reusePort: true }), validTo };
  };
  await requireFree(at);
  const first = start(at.port);
  const { url, port = at.port } = first.server;
  let current: BunServer = first.server;
  const leaving = new Set<BunServer>();
  return {
    address: url.origin,
    reload: async () => {
      const next = start(port);
      const previous = current;
      current = next.server;
      leaving.add(previous);
      // Resolves when its last request is answered, which can take as long as an export.
      void previous.stop().then(() => leaving.delete(previous));
      return { certificateValidTo: next.validTo };
    },
    stop: async (milliseconds) => {
      await Promise.all([current, ...leaving].map((server) => drain(server, milliseconds)));
    },
  };
}

/** With SO_REUSEPORT the kernel would let a second service share the port and silently take half of the requests. */
function requireFree({ hostname, port }: { readonly hostname: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", (cause) => {
      reject(new UamError("conflict", `Cannot listen on ${hostname}:${port}: ${cause.message}`, { cause }));
    });
    probe.listen({ host: hostname, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

async function drain(server: BunServer, milliseconds: number): Promise<void> {
  const patience = Promise.withResolvers<void>();
  // A timer left running would prevent the process from ending.
  const timer = setTimeout(patience.resolve, milliseconds);
  await Promise.race([server.stop(), patience.promise]);
  clearTimeout(timer);
  await server.stop(true);
}
