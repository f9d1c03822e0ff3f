/** Telling systemd the state of the service (sd_notify(3)), without a process for each message. */

import { dlopen, FFIType, ptr } from "bun:ffi";
import { UamError } from "../shared/errors.ts";
import type { Notify } from "./runtime.ts";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
const MSG_DONTWAIT = 0x40;
const MAX_PATH = 107;

/**
 * Opens a datagram socket to the service manager; `path` is $NOTIFY_SOCKET, with `@` for the abstract namespace.
 * Neither Bun nor node:dgram has unix datagrams, so this calls libc. Throws `internal` if that fails.
 */
export function openNotifier(path: string): Notify {
  const name = Buffer.from(path.replace(/^@/, "\0"));
  if (!/^[/@]./.test(path) || name.length > MAX_PATH) throw new UamError("internal", `Not a notify socket: ${path}`);
  const address = Buffer.alloc(2 + name.length);
  // sa_family_t has the machine's byte order; the machines that Bun runs on are little-endian.
  address.writeUInt16LE(AF_UNIX, 0);
  name.copy(address, 2);
  const { symbols: libc } = dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
  });
  const descriptor = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw new UamError("internal", "Cannot open a socket to systemd");
  return (state) => {
    const message = Buffer.from(state);
    const flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    const sent = libc.sendto(descriptor, ptr(message), message.length, flags, ptr(address), address.length);
    if (Number(sent) !== message.length) throw new UamError("internal", `Cannot send "${state}" to systemd at ${path}`);
  };
}
