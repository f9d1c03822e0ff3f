/** A proxy in front of PostgreSQL's socket that cuts connections: at a commit, or at whatever message is asked for. */

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "../../src/store/client.ts";

/** "pass" passes everything; "before" cuts the connection before a commit arrives; "after" once it is done, without its answer. */
export type Mood = "pass" | "before" | "after";

export interface PostgresProxy {
  readonly connection: ConnectionOptions;
  mood: Mood;
  /** Cuts the connection that sends the message of this number from now on, before it arrives or at the first answer to it. */
  cutAt(message: number, when: Exclude<Mood, "pass">): void;
  /** Messages sent since `cutAt` was called; several that are sent together count as one. */
  sent(): number;
  /** Connections cut so far. */
  cuts: number;
  close(): void;
}

export async function startPostgresProxy(target: ConnectionOptions): Promise<PostgresProxy> {
  if (!("host" in target)) throw new Error("the proxy knows unix sockets only");
  const directory = mkdtempSync(join(tmpdir(), "uam-proxy-"));
  const socketOf = (host: string) => `${host}/.s.PGSQL.${target.port}`;
  let sent = 0;
  let armed: { readonly message: number; readonly when: Mood } | undefined;
  const moodFor = (chunk: string | Buffer): Mood => {
    sent++;
    if (armed?.message === sent) return armed.when;
    return proxy.mood !== "pass" && /\bcommit\b/i.test(Buffer.from(chunk).toString("latin1")) ? proxy.mood : "pass";
  };
  const proxy: PostgresProxy = {
    connection: { ...target, host: directory },
    mood: "pass",
    cuts: 0,
    cutAt: (message, when) => {
      sent = 0;
      armed = { message, when };
    },
    sent: () => sent,
    close: () => {
      server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  const server = createServer((client) => {
    const upstream = connect(socketOf(target.host));
    const cut = () => {
      proxy.cuts++;
      client.destroy();
      upstream.destroy();
    };
    let isLosing = false;
    client.on("data", (chunk) => {
      const mood = moodFor(chunk);
      if (mood === "pass") return void upstream.write(chunk);
      if (mood === "before") return cut();
      isLosing = true;
      upstream.write(chunk);
    });
    // The first answer after the commit confirms it.
    upstream.on("data", (chunk) => (isLosing ? cut() : void client.write(chunk)));
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(socketOf(directory), resolve));
  return proxy;
}
