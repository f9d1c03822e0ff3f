/** The program's requirements on the runtime that it runs on. */

import type { Listen } from "../config/listen.ts";
import type { Machine } from "../shared/system/kernel.ts";
import type { TlsFiles } from "./tls.ts";

/** A server that is listening. */
export interface RunningServer {
  /** The address where it answers, e.g. "http://127.0.0.1:8080". */
  readonly address: string;
  /**
   * Reads certificate and key again for new connections; requests under way are not disturbed. Throws `invalid` and keeps the
   * old pair if the new one cannot be used. Absent for plain HTTP.
   */
  reload?(): Promise<{ readonly certificateValidTo: Date }>;
  /** Stops accepting connections, lets requests finish for at most `milliseconds`, then cuts them off. */
  stop(milliseconds: number): Promise<void>;
}

export interface ServeOptions {
  readonly listen: Listen;
  /** Certificate and key for a TCP address; undefined for plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  /**
   * `peer` is the socket's address, or undefined on a unix socket. Whoever was let in to something that lasts is held: by a call of `hold`,
   * never by the path alone.
   */
  readonly fetch: (request: Request, peer: string | undefined, hold: Hold) => Promise<Response>;
}

/**
 * Lets the answer to a request wait, and pause, for that many seconds; 0 for as long as it takes, and the connection ends with it. Returns how many
 * it may wait at most: fewer where the listener has one time for all.
 */
export type Hold = (seconds: number) => number;

export interface Runtime extends Machine {
  /** E.g. "bun 1.4.4". */
  readonly name: string;
  /** The pid of this process. */
  readonly pid?: number;
  serve(options: ServeOptions): Promise<RunningServer>;
  /** Gives unused memory and compiled code back to the system, for which it stops for some 20 ms; absent where it happens by itself. */
  release?(): void;
  /** Opens the connection to the service manager at $NOTIFY_SOCKET; absent on a runtime that cannot. */
  openNotifier?(socket: string): Notify;
}

/** Sends lines such as "READY=1" to the service manager (sd_notify(3)); throws if they cannot be sent. */
export type Notify = (state: string) => void;
