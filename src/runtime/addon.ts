/** The native libraries that the binary carries. */

import { dlopen, FFIType, ptr } from "bun:ffi";
import { closeSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";
import { zstdDecompressSync } from "node:zlib";
import { UamError } from "../shared/errors.ts";
import { openFirst } from "./kernel.ts";

/** MFD_CLOEXEC: programs that are started do not inherit it. */
const CLOSE_ON_EXEC = 1;

/**
 * The functions of these names of the addon in the zstd file at `path`, which is loaded with the first call. It is unpacked into memory alone
 * (memfd_create(2)): no directory is needed in which files may be written and executed, and nobody can put another there. A call throws `internal`
 * where that fails, as without a free descriptor; the next tries again.
 */
export function lazyAddon(path: string, names: readonly string[]): Functions {
  let loaded: Functions | undefined;
  const entries = names.map((name) => {
    // No arrow function: a package may derive a class from it.
    function call(...given: readonly unknown[]): unknown {
      loaded ??= loadAddon(path);
      return loaded[name]?.(...given);
    }
    return [name, call] as const;
  });
  return Object.fromEntries(entries);
}

type Functions = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

function loadAddon(path: string): Functions {
  const descriptor = openMemory();
  try {
    const content = zstdDecompressSync(readFileSync(path));
    for (let written = 0; written < content.length; ) written += writeSync(descriptor, content, written);
    const module = { exports: {} };
    process.dlopen(module, `/proc/self/fd/${descriptor}`);
    // The descriptor stays open: the linker knows a library by its path, and would take the next for this one.
    return module.exports;
  } catch (cause) {
    closeSync(descriptor);
    throw new UamError("internal", "A native library cannot be loaded", { cause });
  }
}

function openMemory(): number {
  const { symbols } = openFirst((name) =>
    dlopen(name, { memfd_create: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 } }),
  );
  const descriptor = symbols.memfd_create(ptr(Buffer.from("uam-addon\0")), CLOSE_ON_EXEC);
  if (descriptor < 0)
    throw new UamError("internal", "A native library cannot be loaded: the kernel gives no memory for it");
  return descriptor;
}
