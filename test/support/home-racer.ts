/** A hostile account's program: `racer MODE DIRECTORY VICTIM` interferes with the writing of keys until it is killed. */

import { dlopen, FFIType } from "bun:ffi";
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;
const F_SETLEASE = 1024;
const F_WRLCK = 1;
const { symbols: libc } = dlopen("libc.so.6", {
  renameat2: { args: [FFIType.i32, FFIType.cstring, FFIType.i32, FFIType.cstring, FFIType.u32], returns: FFIType.i32 },
  fcntl: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
});

const [mode = "", directory = "", victim = ""] = process.argv.slice(2);

function text(path: string): Buffer {
  return Buffer.from(`${path}\0`);
}

/** Swaps two names atomically, over and over: what one call saw as a directory is a link for the next. */
function exchange(path: string, target: string): void {
  const decoy = join(directory, "decoy");
  const [first, second] = [text(path), text(decoy)];
  for (;;) {
    for (let round = 0; round < 100; round++) libc.renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
    // The writer sets links aside or replaces them: a new one keeps the race going.
    if (!isLink(path) && !isLink(decoy)) {
      rmSync(decoy, { recursive: true, force: true });
      symlinkSync(target, decoy);
    }
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Puts a file of its own, a link, a directory or a hard link where the writer's temporary file just appeared. */
function replaceTemporaries(): void {
  writeFileSync(join(directory, "begun"), "");
  for (let round = 0; ; round++) {
    try {
      for (const name of readdirSync(directory).filter((candidate) => candidate.startsWith(".uam."))) {
        const path = join(directory, name);
        const decoy = join(directory, "decoy");
        rmSync(decoy, { recursive: true, force: true });
        if (round % 4 === 0) writeFileSync(decoy, "ssh-ed25519 AAAAmine\n");
        else if (round % 4 === 1) symlinkSync(join(victim, "file"), decoy);
        else if (round % 4 === 2) linkSync(path, decoy);
        else {
          mkdirSync(decoy);
          rmSync(path, { force: true });
        }
        renameSync(decoy, path);
      }
    } catch {
      // Lost this round of the race.
    }
  }
}

/** Holds a write lease: any open for reading would wait for it, up to 45 s (fcntl(2), /proc/sys/fs/lease-break-time). */
function lease(): void {
  process.on("SIGIO", () => undefined);
  const path = join(directory, "authorized_keys");
  const fd = openSync(path, "r+");
  const done = libc.fcntl(fd, F_SETLEASE, F_WRLCK);
  writeFileSync(join(directory, "leased"), String(done));
  setTimeout(() => closeSync(fd), 60_000);
}

if (mode === "exchange-directory") exchange(join(directory, ".ssh"), victim);
else if (mode === "exchange-file") exchange(join(directory, "authorized_keys"), join(victim, "authorized_keys"));
else if (mode === "replace-temporaries") replaceTemporaries();
else if (mode === "lease") lease();
else throw new Error(`No such mode: ${mode}`);
