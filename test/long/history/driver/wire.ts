/** The way from one host to the service: a port of its own, which can be cut in each direction. */

import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../../../support/port.ts";

/**
 * `requests` and `answers`: what goes that way is lost, and neither side is told. `both`: connections are refused and reset. `late`: answers
 * wait, until it is open again.
 */
export type Way = "open" | "both" | "requests" | "answers" | "late";

export interface Wire {
  readonly origin: string;
  way: Way;
  close(): void;
}

export async function layWire(to: string): Promise<Wire> {
  const port = await freePort();
  const target = new URL(to);
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let way: Way = "open";
  const server = createServer((client) => {
    client.on("error", () => {});
    if (way === "both") return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    upstream.on("error", () => client.destroy());
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (bytes) => {
      if (way !== "requests" && way !== "both") upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (way === "late") waiting.push(() => client.write(bytes));
      else if (way === "open" || way === "requests") client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${port}`,
    get way() {
      return way;
    },
    set way(next) {
      const before = way;
      way = next;
      const late = waiting.splice(0);
      if (before === "late" && next === "open") for (const send of late) send();
      // What was lost on the way leaves no connection that could go on.
      else if (next === "both" || next === "open") for (const socket of sockets) socket.destroy();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
