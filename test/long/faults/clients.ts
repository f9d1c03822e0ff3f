/** Callers that say nothing, little, or leave; and more of them than there are descriptors. */

import { connect, type Socket } from "node:net";
import { HANG } from "../../support/hang.ts";
import { onStage, type Stage } from "./stage.ts";

const portOf = ({ service }: Stage): number => Number(new URL(service.origin).port);

function open(stage: Stage, text = ""): Socket {
  const socket = connect(portOf(stage), "127.0.0.1");
  socket.on("error", () => {});
  socket.resume();
  if (text !== "") socket.write(text);
  return socket;
}

const stillOpen = (sockets: readonly Socket[]): number =>
  sockets.filter(({ readyState }) => readyState === "open").length;

async function untilClosed(sockets: readonly Socket[], milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (stillOpen(sockets) > 0 && performance.now() < end) await Bun.sleep(250);
}

export const silent = () =>
  onStage({}, async (stage) => {
    const sockets = Array.from({ length: 1000 }, () => open(stage));
    await Bun.sleep(500);
    await stage.othersAreServed("beside a thousand connections that say nothing");
    await untilClosed(sockets, 90_000);
    stage.fault(stillOpen(sockets) > 0, `${stillOpen(sockets)} of 1000 silent connections are open after 90 s`);
  });

const POST = (path: string, cookie: string, length: number): string =>
  `POST /api/v1${path} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** A byte a second of a body, and of a header. */
export const slow = () =>
  onStage({}, async (stage) => {
    const beginnings = [
      POST("/users", stage.cookie, 60_000),
      POST("/auth/otp/send", "", 60_000),
      "GET /api/v1/healthz HTTP/1.1\r\nX-A: ",
    ];
    const sockets = Array.from({ length: 150 }, (_, count) => open(stage, beginnings[count % beginnings.length]));
    const drops = setInterval(() => {
      for (const socket of sockets) if (socket.readyState === "open") socket.write(" ");
    }, 1000);
    await Bun.sleep(3000);
    await stage.othersAreServed("beside bodies that come a byte a second");
    await untilClosed(sockets, 100_000);
    clearInterval(drops);
    stage.fault(stillOpen(sockets) > 0, `${stillOpen(sockets)} of 150 slow requests are still open after 100 s`);
  });

/** In the middle of an export, of a body, of a change, and before an answer. */
export const leaving = () =>
  onStage({}, async (stage) => {
    const { call, cookie } = stage;
    for (let count = 0; count < 300; count++) {
      await call("POST", "/users", { username: `u${count}`, email: "a@example.org", purpose: "x".repeat(900) });
    }
    const body = (count: number) => JSON.stringify({ username: `left-${count}`, email: "a@example.org" });
    for (let round = 0; round < 10; round++) {
      const sockets = Array.from({ length: 40 }, (_, count) => {
        const text = body(round * 40 + count);
        const whole = `${POST("/users", cookie, text.length)}${text}`;
        const asked = [
          `GET /api/v1/audit/export HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`,
          whole.slice(0, -5),
          whole,
          `GET /api/v1/users HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`,
        ];
        return open(stage, asked[count % asked.length]);
      });
      await Bun.sleep(20 + round * 10);
      for (const socket of sockets) socket.destroy();
    }
    await stage.othersAreServed("beside clients that leave");
    await stage.recovers(5000);
    // What was asked for whole is done or not done, and recorded so.
    await Bun.sleep(2000);
    const stored = (await call("GET", "/users?q=left-&page_size=500")).body.data.total;
    const recorded = (await call("GET", "/audit?action=user.create&page_size=500")).body.data.items.filter(
      ({ detail, result }: { readonly detail: string; readonly result: string }) =>
        result === "success" && detail.includes('"left-'),
    ).length;
    stage.fault(stored !== recorded, `${stored} users of clients that left are stored, ${recorded} recorded`);
  });

/** More connections than the service may have descriptors: whoever is connected is served, and nothing ends. */
export const noDescriptor = () =>
  onStage({ as: () => ["/usr/bin/prlimit", "--nofile=200:200"] }, async (stage) => {
    const sockets = Array.from({ length: 400 }, () => open(stage));
    await Bun.sleep(2000);
    for (const socket of sockets.slice(0, 350)) socket.destroy();
    await stage.recovers(HANG);
    for (const socket of sockets) socket.destroy();
    await stage.othersAreServed("once there are descriptors again");
  });
