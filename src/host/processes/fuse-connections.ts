/** Connections of file systems in user space (FUSE), whose servers can prevent a process that uses them from ever ending. */

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { errorCode } from "../safe-open.ts";
import type { ListedProcess } from "./processes.ts";

const CONNECTIONS = "/sys/fs/fuse/connections";
/** The kernel's functions in which a process sleeps while it waits for a server's answer (fs/fuse/dev.c and file.c). */
const WAITING_FOR_SERVER = /^(?:__)?(?:fuse_\w+|request_wait_answer)(?:\.\w+)*$/;

export interface FuseConnection {
  /** The minor number of the mount's device. */
  readonly number: string;
  /** The uid that mounted it, as the kernel recorded it, whatever the namespace. */
  readonly uid: number;
  /** Requests without an answer so far. */
  readonly waiting: number;
}

/** Every connection of the machine; none if the control file system is not mounted. */
export function readFuseConnections(): readonly FuseConnection[] {
  return unlessGone(() => readdirSync(CONNECTIONS), []).flatMap((number) =>
    unlessGone((): readonly FuseConnection[] => {
      const { uid } = statSync(`${CONNECTIONS}/${number}`);
      return [{ number, uid, waiting: Number(readFileSync(`${CONNECTIONS}/${number}/waiting`, "latin1")) }];
    }, []),
  );
}

/** Fails all requests of the connection from now on. Returns the reason if it cannot, such as EROFS; undefined if it is done. */
export function abortFuse({ number }: FuseConnection): string | undefined {
  try {
    writeFileSync(`${CONNECTIONS}/${number}/abort`, "1");
    return undefined;
  } catch (error) {
    const code = errorCode(error);
    if (code === "") throw error;
    return code === "ENOENT" ? undefined : code;
  }
}

/** Milliseconds without an answer after which another account's server is taken to withhold it. */
const SILENCE = 1_000;

/**
 * Aborts what prevents killed processes from ending: the account's own connections; and, if one of its processes waits
 * for a server, those of other accounts of ours that left requests unanswered for a second. Returns a clause about what stays.
 */
export function createFuseBreaker(isOurs: (uid: number) => boolean) {
  const silentSince = new Map<string, number>();
  return (uid: number, stuck: readonly ListedProcess[]): string | undefined => {
    const waiters = stuck.filter(({ pid }) => waitsForServer(pid)).map(({ pid }) => pid);
    const connections = readFuseConnections();
    const blocking = connections.filter(({ waiting }) => waiting > 0);
    const now = performance.now();
    for (const { number } of connections) if (!blocking.some((it) => it.number === number)) silentSince.delete(number);
    for (const { number } of blocking) if (!silentSince.has(number)) silentSince.set(number, now);
    const isSilent = ({ number }: FuseConnection) => now - (silentSince.get(number) ?? now) > SILENCE;
    const others = blocking.filter((it) => waiters.length > 0 && isSilent(it) && isOurs(it.uid));
    const refused = new Map<string, string>();
    for (const connection of [...connections.filter((it) => it.uid === uid), ...others]) {
      const code = abortFuse(connection);
      if (code !== undefined) refused.set(connection.number, code);
    }
    if (waiters.length === 0) return undefined;
    const which = blocking.map((it) => {
      const code = refused.get(it.number);
      return `connection ${it.number} of uid ${it.uid}${code === undefined ? "" : `, which may not be aborted from here: ${code}`}`;
    });
    const server = which.length === 0 ? "a FUSE server that does not answer" : `FUSE servers: ${which.join("; ")}`;
    return `${waiters.join(", ")} ${waiters.length === 1 ? "waits" : "wait"} for ${server}`;
  };
}

/** True if one of its threads waits; the first thread may have ended. */
function waitsForServer(pid: number): boolean {
  const threads = unlessGone(() => readdirSync(`/proc/${pid}/task`), []);
  return threads.some((thread) =>
    WAITING_FOR_SERVER.test(unlessGone(() => readFileSync(`/proc/${pid}/task/${thread}/wchan`, "latin1"), "")),
  );
}

/** A process that ends while it is read, or is hidden from this one, counts as missing. */
function unlessGone<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch (error) {
    if (errorCode(error) === "") throw error;
    return otherwise;
  }
}
