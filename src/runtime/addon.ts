/** The native libraries that the binary carries. */

import { dlopen, FFIType, ptr } from "bun:ffi";
import { readFileSync, writeSync } from "node:fs";
import process from "node:process";
import { zstdDecompressSync } from "node:zlib";
import { UamError } from "../shared/errors.ts";
import { openFirst } from "./kernel.ts";

/** MFD_CLOEXEC: programs that are started do not inherit it. */
const CLOSE_ON_EXEC = 1;

/**
 * What the addon in the zstd file at `path` exports. It is unpacked into memory alone (memfd_create(2)), so it needs no directory in which
 * files may be written and executed, and nobody can put another there. Throws `internal` if there is no memory for it.
 */
export function loadAddon(path: string): unknown {
  const descriptor = openMemory();
  const content = zstdDecompressSync(readFileSync(path));
  for (let written = 0; written < content.length; ) written += writeSync(descriptor, content, written);
  const module = { exports: {} };
  // The descriptor stays open: the linker knows a library by its path, and the next would be taken for this one.
  process.dlopen(module, `/proc/self/fd/${descriptor}`);
  return module.exports;
}

function openMemory(): number {
  const { symbols } = openFirst((name) =>
    dlopen(name, { memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 } }),
  );
  const descriptor = symbols.memfd_create(ptr(Buffer.from("uam-addon\0")), CLOSE_ON_EXEC);
  if (descriptor < 0)
    throw new UamError("internal", "A native library cannot be unpacked: the kernel gives no memory for it");
  return descriptor;
}
