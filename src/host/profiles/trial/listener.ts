/** A listener of ours that a forwarded connection may reach, and who did. */

import { randomBytes } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";

const GREETING = /uam-greeting-[0-9a-f]{16}/;

export interface Listener {
  readonly port: number;
  /** What it says to whoever comes. No other listener says it: a port may be another's by then. */
  readonly greeting: string;
  readonly connections: () => number;
  readonly close: () => void;
}

/** On a free port of the loopback, or on a socket at that path; greets whoever comes. */
export function listen(path?: string, port = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  const greeting = `uam-greeting-${randomBytes(8).toString("hex")}`;
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.write(`${greeting}\n`);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const done = (): void => {
      const address = server.address();
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        greeting,
        connections: () => connections,
        close: () => {
          for (const socket of sockets) socket.destroy();
          server.close();
        },
      });
    };
    if (path === undefined) server.listen(port, "127.0.0.1", done);
    else server.listen(path, done);
  });
}

/** What the other end says first, having been sent that; "" if it closes before. */
export function heardFrom(port: number, ...sent: readonly Uint8Array[]): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connect({ port, host: "127.0.0.1" });
    const settle = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(heard);
    };
    const timer = setTimeout(settle, 10_000);
    let next = 0;
    const send = (): void => {
      const bytes = sent[next++];
      if (bytes !== undefined) socket.write(bytes);
    };
    socket.on("connect", send);
    socket.on("data", (chunk: Buffer) => {
      heard += chunk.toString("latin1");
      send();
      if (GREETING.test(heard)) settle();
    });
    socket.on("error", settle);
    socket.on("close", settle);
  });
}
