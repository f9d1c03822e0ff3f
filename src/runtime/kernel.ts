/** System calls, made through the C library that the runtime has loaded. */

import process from "node:process";
import { UamError } from "../shared/errors.ts";
import { type Kernel, SWEEP_UID, SWEEP_UIDS } from "../shared/system/kernel.ts";

/** The functions of the C library that are called. */
export interface Libc {
  /** syscall(2): -1 if the kernel refuses. Its arguments are only numbers. */
  readonly syscall: (number: number, first: number, second: number, third: number, fourth: number) => number;
  /** umount2(2), with a path that ends with a zero byte. */
  readonly umount: (path: Buffer, flags: number) => number;
}

/** Numbers of system calls (syscalls(2)); those of all architectures that came after arm64 are the same. */
const NUMBERS = {
  x64: { close: 3, getpid: 39, kill: 62, flock: 73, getuid: 102, geteuid: 107, setresuid: 117, fallocate: 285 },
  arm64: { close: 57, getpid: 172, kill: 129, flock: 32, getuid: 174, geteuid: 175, setresuid: 147, fallocate: 47 },
} as const;
const PIDFD_SEND_SIGNAL = 424;
const PIDFD_OPEN = 434;

const SIGKILL = 9;
/** LOCK_EX and LOCK_NB. */
const LOCK_NOW = 6;
const MNT_FORCE = 1;
const MNT_DETACH = 2;
const UMOUNT_NOFOLLOW = 8;
const FIRST_UID = 1000;
const LAST_UID = 0xffff_fffd;

function isSweeping(uid: number): boolean {
  return uid === SWEEP_UID || (uid >= SWEEP_UIDS.first && uid <= SWEEP_UIDS.last);
}

/** The C library, glibc or musl, as dlopen(3) finds the one that is loaded; throws `internal` if neither can be opened. */
export function openFirst<Library>(open: (name: string) => Library): Library {
  const names = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];
  const causes: unknown[] = [];
  for (const name of names) {
    try {
      return open(name);
    } catch (cause) {
      causes.push(cause);
    }
  }
  throw new UamError("internal", `The C library cannot be called: neither ${names.join(" nor ")}`, {
    cause: causes[0],
  });
}

/** The system calls with this machine's numbers. Throws on an architecture whose numbers are not known. */
export function createKernel(libc: Libc): Kernel {
  if (process.arch !== "x64" && process.arch !== "arm64")
    throw new UamError("internal", `The system call numbers of ${process.arch} are not known`);
  const numbers = NUMBERS[process.arch];
  const call = (number: number, first = 0, second = 0, third = 0, fourth = 0) =>
    libc.syscall(number, first, second, third, fourth);
  return {
    killAllOf: (uid) => asAccount(uid, () => call(numbers.kill, -1, SIGKILL) === 0) ?? false,
    reachesAny(uid, pids) {
      // A process may always signal itself, whatever its uids (kill(2)).
      const own = call(numbers.getpid);
      return asAccount(uid, () => pids.some((pid) => pid !== own && call(numbers.kill, pid, 0) === 0));
    },
    killProcess(pid, isMeant) {
      const handle = call(PIDFD_OPEN, pid);
      // Before Linux 5.3 handles do not exist: the pid is checked just before it is used.
      if (handle < 0) return isMeant() && call(numbers.kill, pid, SIGKILL) === 0;
      try {
        return isMeant() && call(PIDFD_SEND_SIGNAL, handle, SIGKILL) === 0;
      } finally {
        call(numbers.close, handle);
      }
    },
    detachMount(path) {
      const text = Buffer.concat([path, Buffer.alloc(1)]);
      return libc.umount(text, MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW) === 0;
    },
    lockFile: (descriptor) => call(numbers.flock, descriptor, LOCK_NOW) === 0,
    allocate: (descriptor, bytes) => call(numbers.fallocate, descriptor, 0, 0, bytes) === 0,
  };

  /** The result of `work`, which runs in this thread with the rights of the uid's owner to signal; undefined if the kernel refuses that. */
  function asAccount(uid: number, work: () => boolean): boolean | undefined {
    // As root `kill -1` would reach the whole machine.
    if (!Number.isInteger(uid) || uid < FIRST_UID || uid > LAST_UID || isSweeping(uid))
      throw new Error(`not the uid of an account: ${uid}`);
    // Not setresuid(3), which changes every thread. The saved uid stays root's, so that nobody else may signal or trace this
    // thread; the real one must not, or root's processes would be reached as well.
    const own = SWEEP_UIDS.first + call(numbers.getpid);
    if (call(numbers.setresuid, own, uid, 0) !== 0 && call(numbers.setresuid, SWEEP_UID, uid, 0) !== 0)
      return undefined;
    try {
      return work();
    } finally {
      call(numbers.setresuid, 0, 0, 0);
      // The next start continues; until then nothing may be done as somebody else.
      if (call(numbers.getuid) !== 0 || call(numbers.geteuid) !== 0) endThisProcess();
    }
  }

  function endThisProcess(): never {
    // A process may always signal itself (kill(2)).
    call(numbers.kill, call(numbers.getpid), SIGKILL);
    process.abort();
  }
}
