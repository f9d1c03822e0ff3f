/** Hours of groups of hosts: an account is open on a host only while all of the host's groups are. */

import { and, asc, eq, isNotNull, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { checkHours, type Hours, limits } from "../../shared/hours/hours.ts";
import { formatHours, parseHours } from "../../shared/hours/text.ts";
import { type Span, windowsBetween } from "../../shared/hours/windows.ts";
import { shift } from "../../shared/time/clock.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST, type UserRow } from "../../store/schema.ts";
import { fleetChanges, hostGroupMembers, hostGroups } from "../../store/schema-fleet.ts";
import { onHost, openingsBetween } from "../accounts/access-state.ts";
import { HOURS_AHEAD, lacks } from "../accounts/fewer-hours.ts";
import type { Operation } from "../operation/context.ts";
import { requireHost } from "./find-host.ts";

/** As they are stored: null where they limit nothing. Throws `invalid`. */
export function storedHours(hours: Hours | null): string | null {
  return limits(hours) ? formatHours(checkHours(hours)) : null;
}

/** The hours of the groups that the host is in. */
export async function hoursOfHost(db: Database | Transaction, hostId: number): Promise<readonly string[]> {
  const rows = await db
    .select({ hours: hostGroups.hours })
    .from(hostGroups)
    .innerJoin(hostGroupMembers, eq(hostGroupMembers.groupId, hostGroups.id))
    .where(and(eq(hostGroupMembers.hostId, hostId), isNotNull(hostGroups.hours)))
    .orderBy(asc(hostGroups.id));
  return rows.flatMap(({ hours }) => hours ?? []);
}

/** When hosts of groups with these hours are open; never, if one cannot be read, as after a restore on another runtime. */
export function spansOf(texts: readonly string[], from: Date, to: Date): readonly Span[] {
  try {
    return windowsBetween(texts.map(parseHours), from, to);
  } catch (error) {
    if (error instanceof UamError) return [];
    throw error;
  }
}

/** When the user's access is open on the host, by name or id, as `openingsBetween` says it. Throws `not_found`, and as that does. */
export async function spansOnHost(
  { db }: { readonly db: Database },
  host: string,
  { user, ...between }: { readonly user: UserRow; readonly from: Date; readonly to: Date },
): Promise<readonly Span[]> {
  const ref = /^\d{1,9}$/.test(host) ? Number(host) : host;
  const { id } = await requireHost(db, ref);
  const texts = await hoursOfHost(db, id);
  const spans = openingsBetween(onHost(user, id), between.from, between.to);
  return spans.flatMap(({ from, to }) => spansOf(texts, from, to));
}

/** A change of a group, as far as it is about hours. */
export interface HoursChange {
  readonly old: string | null;
  readonly hours: string | null;
  /** Numbers of the hosts that stay, and of those that join. */
  readonly staying: readonly number[];
  readonly joining: readonly number[];
}

/** The further hosts on which the change takes access away. */
export function narrowedHosts({ old, hours, staying, joining }: HoursChange, now: Date): readonly number[] {
  if (hours === null) return [];
  const until = shift(now, HOURS_AHEAD);
  const left = spansOf([hours], now, until);
  const isNarrower = old !== hours && lacks(left, spansOf(old === null ? [] : [old], now, until));
  return [...(isNarrower ? staying : []), ...joining]
    .filter((id) => id !== LOCAL_HOST)
    .sort((one, other) => one - other);
}

/** Stores, with the operation, that these hosts have to confirm it. `told` gets the number of its record. */
export function noteNarrowedHosts(
  { tx, context, onRecorded }: Operation,
  narrowed: readonly number[],
  told: (record: number) => void,
): void {
  if (narrowed.length === 0) return;
  onRecorded(async (record) => {
    if (record === 0) return;
    told(record);
    const madeAt = context.clock.now();
    const hosts = sql`${`{${narrowed.join(",")}}`}::int[]`;
    await tx.insert(fleetChanges).values({ recordId: record, userId: 0, account: "", hosts, madeAt });
  });
}
