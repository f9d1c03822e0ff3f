/**
 * The lines of a history (docs/history-model.md): all that the driver, which writes them, and the checker, which reads them, share. Times are
 * whole milliseconds of the observer's monotonic clock since the first line; so are all moments that answers name.
 */

/** The first line. */
export interface Start {
  readonly e: "start";
  readonly version: 1;
  /** The observer's date at time 0, for people. */
  readonly wall: string;
  readonly seed: number;
  readonly hosts: readonly string[];
  /** The lease of each host at the beginning; null: without end. */
  readonly lease: number | null;
  /** How long after the beginning of a calm, and of a window in it, everything has to be as it was told. */
  readonly settle: number;
  /** How much later than the lease's or the access's own end a login may still be seen. */
  readonly slack: number;
}

export type Span = readonly [from: number, to: number];

/** What is done. Where nothing else is said, the service is asked for it. */
export type Deed =
  | {
      readonly do: "create";
      readonly user: string;
      readonly hosts: readonly string[];
      readonly from: number;
      readonly to: number;
    }
  | { readonly do: "disable" | "enable" | "delete"; readonly user: string }
  | { readonly do: "term"; readonly user: string; readonly from: number; readonly to: number }
  /** null: around the clock. */
  | { readonly do: "hours"; readonly user: string; readonly windows: readonly Span[] | null }
  /** The whole list. */
  | { readonly do: "hosts"; readonly user: string; readonly hosts: readonly string[] }
  | { readonly do: "upload" | "revoke"; readonly user: string; readonly key: string }
  | { readonly do: "lock" | "unlock"; readonly host: string }
  | { readonly do: "lease"; readonly host: string; readonly lease: number | null }
  /** At the host. ok: let in; fail: refused. */
  | { readonly do: "login"; readonly user: string; readonly key: string; readonly host: string }
  /** By the nemesis. Between cut and heal, the host gets no answer of the service. */
  | { readonly do: "cut" | "heal" | "kill" | "stop" | "go" | "boot" | "full" | "room"; readonly host: string }
  /** The host's clock less the observer's. */
  | { readonly do: "clock"; readonly host: string; readonly off: number }
  | { readonly do: "replica" | "failover" | "backup" | "accept" }
  /** The database becomes as it was at the backup with that number. */
  | { readonly do: "restore"; readonly backup: number }
  /** Nothing but logins is done from its invocation to its answer. */
  | { readonly do: "calm" };

/** The beginning of a deed; `n` is its own. */
export type Invoke = { readonly e: "invoke"; readonly n: number; readonly t: number; readonly process: string } & Deed;

/**
 * Its end. ok: it was done. fail: it was not, and never will be. unknown: it may have been done, or be done at any time from its
 * invocation on; so it is with a deed that has no end.
 */
export interface End {
  readonly e: "ok" | "fail" | "unknown";
  readonly n: number;
  readonly t: number;
  readonly why?: string;
  /** Of what takes access away: the hosts that have not confirmed it, and from when on it holds there; null: nobody knows. */
  readonly pending?: readonly string[];
  readonly by?: number | null;
}

export type Line = Start | Invoke | End;
