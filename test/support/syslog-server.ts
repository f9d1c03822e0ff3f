/** A receiver of syslog over TCP or TLS that counts octets as RFC 6587 says. */

import { createServer as createPlainServer, type Server, type Socket } from "node:net";
import { createServer as createSecureServer } from "node:tls";
import { freePort } from "./port.ts";

export interface SyslogServer {
  readonly port: number;
  /** Whole messages, in the order in which they came. */
  readonly messages: readonly string[];
  /** Numbers of the records. */
  ids(): readonly number[];
  /** Cuts all connections. */
  cut(): void;
  /** Reads nothing more of what comes, or goes on. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function startSyslogServer(
  options: { readonly port?: number; readonly tls?: { readonly cert: string; readonly key: string } } = {},
): Promise<SyslogServer> {
  const messages: string[] = [];
  const sockets = new Set<Socket>();
  let paused = false;
  const take = (socket: Socket) => {
    sockets.add(socket);
    let rest = Buffer.alloc(0);
    if (paused) socket.pause();
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const space = rest.indexOf(" ");
        if (space < 0) return;
        const length = Number(rest.subarray(0, space).toString("latin1"));
        if (!Number.isInteger(length)) throw new Error(`no octet count: ${rest.subarray(0, 40)}`);
        if (rest.length < space + 1 + length) return;
        messages.push(rest.subarray(space + 1, space + 1 + length).toString("utf8"));
        rest = rest.subarray(space + 1 + length);
      }
    });
  };
  const server: Server = options.tls === undefined ? createPlainServer(take) : createSecureServer(options.tls, take);
  // Closed, it comes back there.
  const port = options.port ?? (await freePort());
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port,
    messages,
    ids: () => messages.map((message) => JSON.parse(message.slice(message.indexOf("{"))).id),
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    pause: () => {
      paused = true;
      for (const socket of sockets) socket.pause();
    },
    resume: () => {
      paused = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
