/** What agents call: passes each connection to one replica after the other, as a proxy does that is in front of them. */

import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../../support/port.ts";

export interface Front {
  readonly origin: string;
  /** Origins of the replicas; one that refuses is passed over. */
  to: readonly string[];
  close(): void;
}

export async function startFront(): Promise<Front> {
  const port = await freePort();
  let turn = 0;
  const front: Front = {
    origin: `http://127.0.0.1:${port}`,
    to: [],
    close: () => server.close(),
  };
  function pass(client: Socket, attempts: number): void {
    const target = new URL(front.to[turn++ % Math.max(1, front.to.length)] ?? "http://127.0.0.1:1");
    const upstream = connect(Number(target.port), target.hostname);
    upstream.once("connect", () => {
      client.pipe(upstream);
      upstream.pipe(client);
      client.on("close", () => upstream.destroy());
      upstream.on("close", () => client.destroy());
    });
    let isUp = false;
    upstream.once("connect", () => {
      isUp = true;
    });
    upstream.on("error", () => {
      if (!isUp && attempts > 1) pass(client, attempts - 1);
      else client.destroy();
    });
  }
  const server = createServer((client) => {
    client.on("error", () => {});
    pass(client, front.to.length);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return front;
}
