/** A receiver of webhooks: takes what is delivered, or does not, as it is told. */

import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { Webhook } from "standardwebhooks";
import { freePort } from "./port.ts";

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any;
}

export interface Receiver {
  readonly port: number;
  readonly url: string;
  /** All that came, taken or not. */
  readonly requests: readonly Received[];
  /** Numbers of the records that were taken, in the order in which they came. */
  readonly ids: readonly number[];
  /** What it answers from now on: a status, or "hang" for nothing at all, or "slow" for a status after a while. */
  answer: number | "hang";
  /** Where it redirects to, with a status of 3xx. */
  location: string;
  /** Milliseconds before each answer. */
  delay: number;
  /** Bytes of each answer's body. */
  size: number;
  /** Throws unless the delivery was signed with this secret. */
  verify(received: Received, secret: string): void;
  close(): Promise<void>;
}

/** Listens on a loopback address; with a certificate, by TLS. */
export async function startReceiver(
  options: { readonly port?: number; readonly tls?: { readonly cert: string; readonly key: string } } = {},
): Promise<Receiver> {
  const requests: Received[] = [];
  const ids: number[] = [];
  const server: Server =
    options.tls === undefined ? createServer() : (createSecureServer({ ...options.tls }) as unknown as Server);
  server.on("request", (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      const json = body === "" ? undefined : JSON.parse(body);
      const headers = request.headers as Record<string, string>;
      requests.push({ path: request.url ?? "", headers, body, json });
      const { answer } = receiver;
      if (answer === "hang") return;
      setTimeout(() => {
        if (answer < 300 && json?.data?.id !== undefined) ids.push(json.data.id);
        response.writeHead(answer, answer >= 300 && answer < 400 ? { location: receiver.location } : {});
        response.end("x".repeat(receiver.size));
      }, receiver.delay);
    });
  });
  // Once it is closed, nobody else answers there.
  const port = options.port ?? (await freePort());
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const receiver: Receiver = {
    ...{ port, requests, ids, answer: 200, location: "", delay: 0, size: 0 },
    url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}/hook`,
    verify: ({ body, headers }, secret) => {
      new Webhook(secret).verify(body, headers as Record<string, string>);
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return receiver;
}
