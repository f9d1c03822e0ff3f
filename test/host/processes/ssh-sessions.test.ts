import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { addressOf, parseConnections, peersOf } from "../../../src/host/processes/peer.ts";
import { findConnection, sessionIdOf } from "../../../src/host/processes/ssh-sessions.ts";

const HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const row = (remote: string, inode: number) =>
  `   1: 0100007F:1F90 ${remote} 01 00000000:00000000 00:00000000 00000000     0        0 ${inode} 2 0000000000000000 20 4 30 10 -1`;

describe("parseConnections", () => {
  test.each([
    ["070200C0", "192.0.2.7"],
    ["B80D0120000000000000000007000000", "2001:db8::7"],
    ["B80D0120000000000000000001000000", "2001:db8::1"],
    ["0000000000000000FFFF0000070200C0", "192.0.2.7"],
  ])("parseConnections() and addressOf() read %s as the kernel writes it", (remote, address) => {
    expect(parseConnections([HEADER, row(`${remote}:9C40`, 77), ""].join("\n"))).toEqual([["77", remote]]);
    expect(addressOf(remote)).toBe(address);
  });

  test("parseConnections() leaves out sockets that listen, and those that are nobody's any more", () => {
    const table = [HEADER, row("00000000:0000", 5), row("070200C0:9C40", 0), "junk"].join("\n");
    expect(parseConnections(table)).toEqual([]);
  });
});

describe("peersOf", () => {
  test("peersOf() finds the other end, and nothing of a process that is gone", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    await once(socket, "connect");
    expect([...peersOf([4_194_305, process.pid])]).toEqual([
      [4_194_305, ""],
      [process.pid, "127.0.0.1"],
    ]);
    socket.destroy();
    server.close();
  });
});

describe("sessionIdOf", () => {
  test("sessionIdOf() is never the same for another start or another process", () => {
    const ids = [
      { started: 1, pid: 1 },
      { started: 11, pid: 1 },
      { started: 1, pid: 11 },
      { started: 1, pid: 4_194_304 },
      { started: 14, pid: 194_304 },
      { started: 9_999_999_999, pid: 4_194_304 },
    ].map(sessionIdOf);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^\d{8,22}$/);
  });
});

describe("findConnection", () => {
  test.each(["", "0", "x", "00000001", "10000001", "9".repeat(400), "1e10", " 10000001", "10000001\n"])(
    "findConnection() finds nothing by %p",
    (id) => {
      expect(findConnection({ name: "ext_alice", uid: 40_001 }, id)).toBeUndefined();
    },
  );
});
