/** The kernel's calls on Bun. */

import { dlopen, FFIType, ptr } from "bun:ffi";
import type { Kernel } from "../shared/system/kernel.ts";
import { createKernel, type Libc, openFirst } from "./kernel.ts";

const { i32, i64, ptr: pointer } = FFIType;

/** The system calls, through the C library; throws `internal` if it cannot be opened. */
export function openKernel(): Kernel {
  return createKernel(openLibc());
}

/** Opens the C library; throws `internal` if that fails. */
export function openLibc(): Libc {
  const { symbols } = openFirst((name) =>
    dlopen(name, {
      syscall: { args: [i64, i64, i64, i64, i64], returns: i64 },
      umount2: { args: [pointer, i32], returns: i32 },
    }),
  );
  return {
    syscall: (...numbers) => Number(symbols.syscall(...numbers)),
    umount: (path, flags) => symbols.umount2(ptr(path), flags),
  };
}
