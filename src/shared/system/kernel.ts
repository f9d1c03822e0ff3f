/** System calls that no library of the runtime offers, and that must not need a process of their own. */

/**
 * The real uid of a sweep is this and the number of the process that sweeps, because two with one real uid would kill each other. No range
 * of systemd's or of a container's has these (systemd.io/UIDS-GIDS), nor an account of ours; process numbers end at 2^22.
 */
export const SWEEP_UIDS = { first: 0x7000_0000, last: 0x7000_0000 + 2 ** 22 } as const;

/**
 * The real uid of a sweep if the kernel knows none of those, as in a container's own range. Reserved by Debian's policy (9.2.2) and beyond systemd's ranges, so
 * nothing else runs under it: such a process would be swept, too. No database server of ours may use it: see store/postgres/postgres-owner.ts.
 */
export const SWEEP_UID = 65_533;

/** System calls, each made at once by the calling thread, and over when the function returns. For root, where nothing else is said. */
export interface Kernel {
  /**
   * Kills every process with this real or saved uid, in one call that also reaches processes that are being forked
   * meanwhile (kill(2), `-1`). No process of that uid can signal, stop or trace the caller. False if the kernel refuses.
   * Throws for a uid below 1000. If this process cannot be root again afterwards, it ends at once.
   */
  killAllOf(uid: number): boolean;
  /**
   * Whether one of these processes, but for this one, has this uid as its real or saved one, also if it has just ended (kill(2), signal 0): far quicker than
   * reading what each of them is. Undefined if the kernel refuses to say. Throws, and ends this process, as `killAllOf` does.
   */
  reachesAny(uid: number, pids: readonly number[]): boolean | undefined;
  /** Kills the process if `isMeant` is true of it while its number cannot go to another. False if it is gone or not meant. */
  killProcess(pid: number, isMeant: () => boolean): boolean;
  /**
   * Ends what a file system in user space still has to answer, and takes its mount out of the tree, with all that is mounted
   * below it; follows no link in the last place (umount2(2)). False if the kernel refuses.
   */
  detachMount(path: Buffer): boolean;
  /**
   * Locks the open file for its descriptor alone, until that is closed or the process ends (flock(2)); needs no rights beyond the open
   * descriptor. False if another descriptor has it locked, or the kernel refuses.
   */
  lockFile(descriptor: number): boolean;
  /**
   * Reserves that many bytes of disk for the open file, which then has that length (fallocate(2)). False if there is no room, or it
   * cannot.
   */
  allocate(descriptor: number, bytes: number): boolean;
}

/** The runtime's services for the host's side of the program. */
export interface Machine {
  /** How this very program is run: the words before its arguments. */
  readonly program: readonly string[];
  /** Opens access to these calls; throws `internal` if there is none. */
  openKernel(): Kernel;
}
