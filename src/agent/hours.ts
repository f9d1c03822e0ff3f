/**
 * When the accounts of the host are open: each only in the windows that the service told, by the host's clock and by the service's, whichever
 * opens later and shuts earlier. Pure, but for the reading of the clocks.
 */

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AccountHours, AccountState, HoursSpan } from "../protocol/fleet.ts";
import type { EndingAccess } from "../protocol/host.ts";
import { commonSpans } from "../shared/hours/common-spans.ts";
import { ENDING_NOTICE, endingText } from "../shared/hours/ending-text.ts";
import { isZone } from "../shared/hours/zone.ts";
import { readPlainFile } from "../shared/system/plain-file.ts";
import { MINUTE, SECOND } from "../shared/time/clock.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import type { Moment } from "./lease.ts";

/** The time now, in milliseconds since 1970: by the host's clock, and by the service's as it is known. */
export interface Times {
  readonly earliest: number;
  readonly latest: number;
  /** Whether windows may be opened: false where the clocks differ by more than a minute, or the service's is not known since the boot. */
  readonly areSure: boolean;
}

/** An account as the hours have it. */
export interface Timed extends AccountState {
  /** Where only logins end with the hours: `expire_at` as the service told it. */
  readonly end?: string | undefined;
  /** It is outside them, and open for what runs: no key lets anybody in. */
  readonly outside?: true | undefined;
}

/** The fields of an account that the hours decide. */
type Opened = Pick<Timed, "open" | "expire_at" | "hours" | "outside">;

/**
 * The account as it is to be at that time. `before`: as it was; where the clocks are not sure, it is no more open than that. Where only logins
 * end with the hours, one that was open stays open outside of them, for what runs.
 */
export function atTime<T extends Timed>(account: T, before: Opened | undefined, times: Times): T {
  if (account.hours === undefined || !account.open) return account;
  const { outside: _, ...rest } = account;
  const wasInside = before?.open === true && before.outside !== true;
  const window = windowAt(account.hours, times, openedAt(before));
  if (window === undefined || (!times.areSure && !wasInside)) {
    if (account.hours_end !== "logins" || before?.open !== true) return { ...rest, open: false } as T;
    return { ...account, expire_at: account.end ?? account.expire_at, outside: true };
  }
  const to = times.areSure || before === undefined || window.to < before.expire_at ? window.to : before.expire_at;
  return { ...rest, expire_at: to } as T;
}

/** When the window began in which the account is open; undefined where it is shut, or open at all hours. */
export function openedAt(account: Opened | undefined): string | undefined {
  if (account?.open !== true || account.outside === true) return undefined;
  return account.hours?.windows.find(({ to }) => to === account.expire_at)?.from;
}

/**
 * The window that is open: it has ended by no clock, and begun by both, unless the account was opened in it (`opened`) before one of them was
 * set back.
 */
export function windowAt(
  { windows }: AccountHours,
  { earliest, latest }: Times,
  opened: string | undefined,
): HoursSpan | undefined {
  const hasBegun = (from: string) => Date.parse(from) <= earliest || (opened !== undefined && from <= opened);
  return windows.find(({ from, to }) => hasBegun(from) && latest < Date.parse(to));
}

/** The windows that both have in common. */
export function commonHours(one: AccountHours, other: AccountHours): AccountHours {
  const until = one.until < other.until ? one.until : other.until;
  const zone = other.zone ?? one.zone;
  return { until, windows: commonSpans(one.windows, other.windows), ...(zone === undefined ? {} : { zone }) };
}

/** Whether they say the same. */
export function sameHours(one: AccountHours | undefined, other: AccountHours | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Those whose sessions end with a window within ten minutes, by the wall clock of their zone. */
export function endingSoon(accounts: readonly Timed[], { latest }: Times): readonly EndingAccess[] {
  return accounts.flatMap(({ name, uid, open, outside, hours, hours_end, expire_at }) => {
    // A window that reaches as far as windows are known goes on, as far as anybody knows.
    if (!open || outside === true || hours === undefined || hours_end === "logins" || expire_at === hours.until)
      return [];
    const at = new Date(expire_at);
    return at.getTime() - latest > ENDING_NOTICE ? [] : [{ name, uid, at, text: endingText(at, zoneHere(hours)) }];
  });
}

/** UTC where this host's runtime does not know the zone: what is told then is still right. */
function zoneHere({ zone = "UTC" }: AccountHours): string {
  return isZone(zone) ? zone : "UTC";
}

/** Until when the hours of all accounts are known; undefined if none has any. */
export function hoursUntil(accounts: readonly AccountState[]): string | undefined {
  const ends = accounts.flatMap(({ hours }) => (hours === undefined ? [] : [hours.until]));
  return ends.reduce<string | undefined>((least, end) => (least === undefined || end < least ? end : least), undefined);
}

/** The host's clock beside the service's. */
export interface ClockWatch {
  /** The service's clock, as its answer says, which has just come. */
  heard(serviceTime: string): void;
  times(): Times;
}

/** In /run: what is known of the service's clock ends with the boot, as the lease does. `BOOT TIME`. */
const CLOCK = "clock";
/** Clocks that differ by more open nothing. */
const TOLERATED = MINUTE;

/** The service's clock when it was heard. */
export interface Reference {
  /** Seconds since the boot. */
  readonly boot: number;
  /** The service's clock then, in milliseconds since 1970. */
  readonly time: number;
}

/** The service's clock goes on from its last answer by the time since the boot, which nobody can set. */
export function timesAfter(reference: Reference | undefined, { boot, wall }: Moment): Times {
  const own = wall * SECOND;
  if (reference === undefined || boot < reference.boot) return { earliest: own, latest: own, areSure: false };
  const theirs = reference.time + (boot - reference.boot) * SECOND;
  const areSure = Math.abs(own - theirs) <= TOLERATED;
  return { earliest: Math.min(own, theirs), latest: Math.max(own, theirs), areSure };
}

/** Keeps what was heard in /run, for a restart within the boot. */
export function watchClock(runDirectory: string, now: () => Moment): ClockWatch {
  let reference = readReference(runDirectory);
  return {
    heard: (serviceTime) => {
      reference = { boot: now().boot, time: Date.parse(serviceTime) };
      writeReference(runDirectory, reference);
    },
    times: () => timesAfter(reference, now()),
  };
}

function readReference(runDirectory: string): Reference | undefined {
  let text: string;
  try {
    text = readPlainFile(join(runDirectory, CLOCK));
  } catch {
    return undefined;
  }
  const [, boot, time] = /^(\d{1,15}(?:\.\d{1,6})?) (\S{24})\n$/.exec(text) ?? [];
  const at = Date.parse(time ?? "");
  return boot === undefined || Number.isNaN(at) ? undefined : { boot: Number(boot), time: at };
}

/** Without it a restarted agent waits for the next answer before it opens a window. */
function writeReference(runDirectory: string, { boot, time }: Reference): void {
  const path = join(runDirectory, CLOCK);
  try {
    mkdirSync(runDirectory, { recursive: true, mode: 0o755 });
    writeFileSync(`${path}.new`, `${boot.toFixed(3)} ${formatTimestamp(new Date(time))}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    // Nothing is opened too early for it.
  }
}
