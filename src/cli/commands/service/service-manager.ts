/** Tells systemd that the service is ready, reloading, stopping, and alive. */

import { clearInterval, setInterval } from "node:timers";
import type { Notify, Runtime } from "../../../runtime/runtime.ts";
import type { Log } from "../../../shared/log.ts";
import { HOUR, SECOND } from "../../../shared/time/clock.ts";

/** The service manager's view of the service; without one, every call does nothing. */
export interface ServiceManager {
  /** The service answers; from now on the watchdog is fed. */
  ready(status: string): void;
  reloading(): void;
  /** The service finishes; the watchdog is fed until `close`. */
  stopping(): void;
  close(): void;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** The extra time that is requested again and again while the service starts, and for how long at most. */
const EXTENSION = 60 * SECOND;
const LONGEST_START = HOUR;

/** Opens it from $NOTIFY_SOCKET and $WATCHDOG_USEC. Failures are logged, not thrown: the service works without systemd. */
export function openServiceManager(variables: Variables, runtime: Runtime, log: Log): ServiceManager {
  const notify = openNotify(variables, runtime, log);
  const interval = watchdogInterval(variables, runtime.pid);
  let timer: NodeJS.Timeout | undefined;
  const extending = extendStart(notify);
  return {
    ready: (status) => {
      clearInterval(extending);
      notify(`READY=1\nSTATUS=${status.replace(/\s+/g, " ")}`);
      // An event loop that is stuck misses its turn, which is what the watchdog is for.
      if (interval !== undefined) timer ??= setInterval(() => notify("WATCHDOG=1"), interval);
    },
    reloading: () => notify("RELOADING=1"),
    stopping: () => notify("STOPPING=1"),
    close: () => {
      clearInterval(extending);
      clearInterval(timer);
    },
  };
}

/** Migrating a large audit log can take longer than the unit's TimeoutStartSec, and must not be cut off at every start. */
function extendStart(notify: Notify): NodeJS.Timeout {
  const began = performance.now();
  const extend = () => {
    if (performance.now() - began < LONGEST_START) notify(`EXTEND_TIMEOUT_USEC=${EXTENSION * 1000}`);
  };
  extend();
  return setInterval(extend, EXTENSION / 3).unref();
}

/** Half of what systemd allows, in milliseconds (sd_watchdog_enabled(3)); undefined if nothing is asked of this process. */
export function watchdogInterval(variables: Variables, pid: number | undefined): number | undefined {
  const microseconds = Number(variables.WATCHDOG_USEC);
  if (!Number.isSafeInteger(microseconds) || microseconds <= 0) return undefined;
  if (variables.WATCHDOG_PID !== undefined && variables.WATCHDOG_PID !== String(pid)) return undefined;
  return Math.max(1, Math.floor(microseconds / 2000));
}

function openNotify(variables: Variables, runtime: Runtime, log: Log): Notify {
  const socket = variables.NOTIFY_SOCKET;
  if (socket === undefined || socket === "") return () => {};
  try {
    const send = runtime.openNotifier?.(socket);
    if (send !== undefined) return (state) => attempt(log, () => send(state));
    log.warn("this runtime cannot tell systemd that the service is ready: use Type=exec in the unit");
  } catch (error) {
    log.error("systemd cannot be reached at NOTIFY_SOCKET", { error });
  }
  return () => {};
}

function attempt(log: Log, work: () => void): void {
  try {
    work();
  } catch (error) {
    log.error("systemd could not be notified", { error });
  }
}
