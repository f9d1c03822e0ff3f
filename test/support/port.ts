/** Ports of the loopback address, for servers that another process starts later. */

import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/** Enough for all that the tests ever start. */
const COUNT = 10_000;

/**
 * The kernel gives the ports of this range to whoever asks for any, each outgoing connection among them: one that is free there
 * may be taken before its server is up.
 */
const first = Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s/)[0]) - COUNT;
const isBelow = first >= 10_000;
/** Processes begin at different places, and give out no port twice. */
let next = Math.floor(Math.random() * COUNT);

/** A port that is free, and that nothing takes but what is told to. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; isBelow && attempt < COUNT; attempt++) {
    const port = first + (next++ % COUNT);
    if ((await probe(port)) === port) return port;
  }
  const port = await probe(0);
  if (port === undefined) throw new Error("no port is free");
  return port;
}

/** The port if it is free, any for 0; undefined if it is taken. */
function probe(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });
}
