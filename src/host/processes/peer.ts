/** Where the other end of a process's connection is, as the kernel has it. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { errorCode } from "../walk.ts";

/** The address of the other end of the process's TCP connection; "" if it has none, or is gone. */
export function peerOf(pid: number): string {
  const sockets = unlessGone(() => readdirSync(`/proc/${pid}/fd`), [])
    .map(Number)
    // The connection that sshd was started for is older than whatever it opened itself, such as one to a directory server.
    .sort((one, other) => one - other)
    .flatMap((fd) => unlessGone(() => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [], []));
  if (sockets.length === 0) return "";
  // Those of the process's own network, which may not be this process's.
  const peers = new Map(
    ["tcp", "tcp6"].flatMap((name) =>
      parsePeers(unlessGone(() => readFileSync(`/proc/${pid}/net/${name}`, "latin1"), "")),
    ),
  );
  return sockets.map((inode) => peers.get(inode)).find((address) => address !== undefined) ?? "";
}

/** The sockets of /proc/net/tcp and tcp6 that are connected: inode and the other end's address. Pure. */
export function parsePeers(table: string): readonly (readonly [inode: string, address: string])[] {
  return table.split("\n").flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [hex = "", port = ""] = (fields[2] ?? "").split(":");
    const inode = fields[9] ?? "";
    const isConnected = /^[0-9A-F]{4}$/.test(port) && port !== "0000" && /^[1-9]\d*$/.test(inode);
    return isConnected ? [[inode, addressOf(hex)] as const] : [];
  });
}

/** From the kernel's words of four bytes, which are in the machine's order: little-endian wherever this program runs. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  const mapped = /^0{20}ffff/i.test(bytes.join(""));
  if (bytes.length === 4 || mapped)
    return bytes
      .slice(-4)
      .map((byte) => Number.parseInt(byte, 16))
      .join(".");
  const groups = bytes.join("").match(/.{4}/g) ?? [];
  // The shortest form, as everything else shows it (RFC 5952).
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}

function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === "") throw error;
    return otherwise;
  }
}
