/** Who can log in now by the tables, found with nothing that the service decides by. */

import { sql } from "drizzle-orm";
import type { Database } from "../../../src/store/client.ts";

/** An account with keys, of a user who is active, on a host that is; and what keeps it shut all the same. */
export interface Stored {
  /** As an answer is compared: username, host, end, fingerprints, profile. */
  readonly line: string;
  readonly company: string;
  readonly host: string;
  readonly shutBy: "start" | "hours" | "company" | "host" | "request" | undefined;
}

interface Row extends Record<string, unknown> {
  readonly username: string;
  readonly host: string;
  readonly company: string;
  readonly expire_at: string;
  readonly starts_at: string | null;
  readonly hours: string | null;
  readonly company_hours: string | null;
  /** As JSON; null for none. */
  readonly host_hours: string | null;
  readonly rule: string | null;
  readonly allowed_from: string | null;
  readonly allowed_until: string | null;
  readonly fingerprints: string;
  /** As JSON: what binds them there, their own first. */
  readonly bound: string;
}

interface Bound {
  readonly by: string | null;
  readonly name: string;
  readonly kind: string;
  readonly forwarding: boolean;
  readonly targets: readonly string[];
  readonly second_factor: string;
}

/** In the order of the answer. */
export async function storedAt(db: Database, now: Date): Promise<readonly Stored[]> {
  const rows = await db.execute<Row>(sql`
    with places as (
      select user_id, host_id from grants where host_id is not null
      union select g.user_id, m.host_id from grants g join host_group_members m on m.group_id = g.group_id)
    select u.username, h.name as host, coalesce(c.name, '') as company, u.expire_at::text, u.starts_at::text, u.hours, c.hours as company_hours,
      (select json_agg(g.hours) from host_group_members m join host_groups g on g.id = m.group_id where m.host_id = h.id and g.hours is not null)::text as host_hours,
      (select coalesce(json_agg(to_jsonb(b) order by b.by collate "C" nulls first), '[]') from (
        select null as by, p.* from profiles p where p.name = u.profile
        union all select g.name, p.* from grants r join host_groups g on g.id = r.group_id join host_group_members m on m.group_id = g.id
          join profiles p on p.name = g.profile where r.user_id = u.id and m.host_id = h.id) b)::text as bound,
      u.request_rule as rule, u.allowed_from::text,
      (case when u.allowed_hosts is null then u.allowed_until when u.allowed_hosts::jsonb ?| array[h.id::text, '*']
        then least(u.allowed_until, coalesce(u.allowed_hosts::jsonb ->> h.id::text, u.allowed_hosts::jsonb ->> '*')::timestamptz) end)::text as allowed_until, string_agg(k.fingerprint, ' ' order by k.fingerprint collate "C") as fingerprints
    from users u left join companies c on c.id = u.company_id join places p on p.user_id = u.id join hosts h on h.id = p.host_id join ssh_keys k on k.user_id = u.id
    where u.status = 'active' and u.expire_at > ${now.toISOString()}::timestamptz and h.status = 'active' and k.status = 'active'
      -- What is left of shutting an account at the end of a window does not keep it shut in the next.
      and not exists (select 1 from closings x where x.user_id = u.id and (x.kind = 'remove' or x.kind = 'shut' and x.action <> ''))
    group by u.id, h.id, c.id order by u.username collate "C", h.name collate "C"`);
  return rows.map((row) => storedOf(row, now));
}

function storedOf(row: Row, now: Date): Stored {
  const { username, host, company, rule, allowed_from: from, allowed_until: until } = row;
  const isAllowed = from !== null && until !== null && new Date(from) <= now && now < new Date(until);
  const shutBy =
    row.starts_at !== null && new Date(row.starts_at) > now
      ? "start"
      : !isOpen(row.hours, now)
        ? "hours"
        : !isOpen(row.company_hours, now)
          ? "company"
          : hoursOfHost(row).some((hours) => !isOpen(hours, now))
            ? "host"
            : rule !== null && !isAllowed
              ? "request"
              : undefined;
  const ends = [row.expire_at, ...(rule === null || until === null ? [] : [until])];
  const end = new Date(Math.min(...ends.map((text) => new Date(text).getTime())));
  const profile = (JSON.parse(row.bound) as readonly Bound[]).map(boundText).join("; ");
  return { line: `${username} ${host} ${end.toISOString()} ${row.fingerprints} ${profile}`, company, host, shutBy };
}

/** Of the profiles that the test makes: any shell, or connections to one target. */
function boundText({ by, name, kind, forwarding, targets, second_factor: factor }: Bound): string {
  const may =
    kind === "forward"
      ? `may open connections to ${targets[0]}, nothing else`
      : `may log in and run programs, and forward ${forwarding ? "" : "no "}connections`;
  return `${by === null ? "" : `by group ${by}, `}${name}: ${may}${factor === "verified" ? ", with a security key and its PIN" : ""}`;
}

function hoursOfHost({ host_hours: hours }: Row): readonly string[] {
  return hours === null ? [] : JSON.parse(hours);
}

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** By a look at a clock on the wall in the zone, which must be one that never changes its clocks; days are a list. */
function isOpen(text: string | null, now: Date): boolean {
  if (text === null) return true;
  const at = text.lastIndexOf(" ");
  const zone = text.slice(at + 1);
  const dayOf = (ago: number) => {
    const shown = new Date(now.getTime() - ago * 86_400_000).toLocaleDateString("en-GB", {
      timeZone: zone,
      weekday: "short",
    });
    return DAYS.indexOf(shown.toLowerCase());
  };
  const time = now.toLocaleTimeString("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
  return text
    .slice(0, at)
    .split("; ")
    .some((window) => {
      const [days = "", range = ""] = window.split(" ");
      const [from = "", to = ""] = range.split("-");
      const on = (ago: number) => daysIn(days).includes(dayOf(ago));
      if (from < to) return on(0) && from <= time && time < to;
      return (on(0) && from <= time) || (on(1) && time < to);
    });
}

/** Of `mon,wed-fri`. */
function daysIn(text: string): readonly number[] {
  return text.split(",").flatMap((part) => {
    const [first = "", last = first] = part.split("-");
    const days: number[] = [];
    for (let day = DAYS.indexOf(first); ; day = (day + 1) % 7) {
      days.push(day);
      if (DAYS[day] === last) return days;
    }
  });
}
