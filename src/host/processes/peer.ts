/** Where the other end of a process's connection is, as the kernel has it. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { errorCode } from "../safe-open.ts";

/**
 * The address of the other end of each process's TCP connection; "" for one that has none, or is gone. Each network's table is read
 * once: anybody on the host can make it long.
 */
export function peersOf(pids: readonly number[]): ReadonlyMap<number, string> {
  const tables = new Map<string, ReadonlyMap<string, string>>();
  return new Map(
    pids.map((pid) => {
      const sockets = socketsOf(pid);
      const peers = sockets.length === 0 ? undefined : tableOf(pid, tables);
      const hex = sockets.map((inode) => peers?.get(inode)).find((found) => found !== undefined);
      return [pid, hex === undefined ? "" : addressOf(hex)];
    }),
  );
}

function socketsOf(pid: number): readonly string[] {
  return (
    unlessGone(() => readdirSync(`/proc/${pid}/fd`), [])
      .map(Number)
      // The connection that sshd was started for is older than whatever it opened itself, such as one to a directory server.
      .sort((one, other) => one - other)
      .flatMap((fd) =>
        unlessGone(() => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [], []),
      )
  );
}

/** The connections of the process's own network, which may not be this process's; undefined if it is gone. */
function tableOf(
  pid: number,
  tables: Map<string, ReadonlyMap<string, string>>,
): ReadonlyMap<string, string> | undefined {
  return unlessGone(() => {
    const network = readlinkSync(`/proc/${pid}/ns/net`);
    const read = (name: string) => parseConnections(readFileSync(`/proc/${pid}/net/${name}`, "latin1"));
    const table = tables.get(network) ?? new Map([...read("tcp"), ...unlessGone(() => read("tcp6"), [])]);
    tables.set(network, table);
    return table;
  }, undefined);
}

/** The sockets of /proc/net/tcp and tcp6 that are connected: inode and the other end's address, as `addressOf` reads it. Pure. */
export function parseConnections(table: string): readonly (readonly [inode: string, hex: string])[] {
  return table.split("\n").flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [hex = "", port = ""] = (fields[2] ?? "").split(":");
    const inode = fields[9] ?? "";
    const isConnected = /^[0-9A-F]{4}$/.test(port) && port !== "0000" && /^[1-9]\d*$/.test(inode);
    return isConnected ? [[inode, hex] as const] : [];
  });
}

/** From the kernel's words of four bytes, which are in the machine's order: little-endian wherever this program runs. Pure. */
export function addressOf(hex: string): string {
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
