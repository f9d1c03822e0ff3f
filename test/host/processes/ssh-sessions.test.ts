import { describe, expect, test } from "bun:test";
import { parsePeers } from "../../../src/host/processes/peer.ts";
import { findConnection, sessionIdOf } from "../../../src/host/processes/ssh-sessions.ts";

const HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const row = (remote: string, inode: number) =>
  `   1: 0100007F:1F90 ${remote} 01 00000000:00000000 00:00000000 00000000     0        0 ${inode} 2 0000000000000000 20 4 30 10 -1`;

describe("parsePeers", () => {
  test.each([
    ["070200C0:9C40", "192.0.2.7"],
    ["B80D0120000000000000000007000000:9C40", "2001:db8::7"],
    ["B80D0120000000000000000001000000:9C40", "2001:db8::1"],
    ["0000000000000000FFFF0000070200C0:9C40", "192.0.2.7"],
  ])("parsePeers() reads %s as the kernel writes it", (remote, address) => {
    expect(parsePeers([HEADER, row(remote, 77), ""].join("\n"))).toEqual([["77", address]]);
  });

  test("parsePeers() leaves out sockets that listen, and those that are nobody's any more", () => {
    expect(parsePeers([HEADER, row("00000000:0000", 5), row("070200C0:9C40", 0), "junk"].join("\n"))).toEqual([]);
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
