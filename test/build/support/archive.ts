/** Archives of Debian that lack something, have something else, or break off: on this machine, for apt. */

import { existsSync } from "node:fs";
import { createServer, type Server } from "node:net";

/** Whether this machine has what fetches from archives. */
export const HAS_APT = ["/usr/lib/apt/apt-helper", "/usr/share/keyrings/debian-archive-keyring.gpg"].every((path) =>
  existsSync(path),
);

/** What one sends for a path, from that byte on. */
export type Answer = (path: string, from: number) => Response;

interface Response {
  readonly status: string;
  readonly body: Buffer;
  /** How much of it is sent before the connection breaks; all of it unless given. */
  readonly part?: number;
}

/** The answer of one that has nothing. */
export const missing: Answer = () => ({ status: "404 Not Found", body: Buffer.alloc(0) });

const open: Server[] = [];

/** One that answers so; `asked` has the paths, or for a proxy the addresses, as they came. */
export async function archive(answer: Answer): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (piece) => {
      const request = piece.toString();
      const path = / (\S+) /.exec(request)?.[1] ?? "";
      const from = Number(/^range: bytes=(\d+)-/im.exec(request)?.[1] ?? 0);
      asked.push(path);
      const { status, body, part } = answer(path, from);
      const range =
        from === 0 ? "" : `Content-Range: bytes ${from}-${from + body.length - 1}/${from + body.length}\r\n`;
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n${range}Last-Modified: Sat, 15 Aug 2026 00:00:00 GMT\r\n\r\n`,
      );
      socket.write(body.subarray(0, part), () => part !== undefined && socket.destroy());
    });
  });
  open.push(server);
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  return { url: `http://127.0.0.1:${port}`, asked };
}

export function closeArchives(): void {
  for (const server of open.splice(0)) server.close();
}
