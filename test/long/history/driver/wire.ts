/** The way from one host to the service: a port of its own, which can be cut in each direction. */

import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../../../support/port.ts";

/** `requests` and `answers`: what goes that way is lost, and neither side is told. `both`: connections are refused and reset. */
export type Way = "open" | "both" | "requests" | "answers";

export interface Wire {
  readonly origin: string;
  way: Way;
  close(): void;
}

export async function layWire(to: string): Promise<Wire> {
  const port = await freePort();
  const target = new URL(to);
  const sockets = new Set<Socket>();
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
    client.on("data", (bytes) => void (way === "open" || way === "answers" ? upstream.write(bytes) : undefined));
    upstream.on("data", (bytes) => void (way === "open" || way === "requests" ? client.write(bytes) : undefined));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${port}`,
    get way() {
      return way;
    },
    set way(next) {
      way = next;
      // What was lost on the way leaves no connection that could go on.
      if (next === "both" || next === "open") for (const socket of sockets) socket.destroy();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
