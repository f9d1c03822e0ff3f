/** What a new user is made from: checked in one place, for one user as for a file of them. */

import { UamError } from "../../shared/errors.ts";
import { checkHours, type Hours, limits } from "../../shared/hours/hours.ts";
import { checkOnRequest, formatOnRequest, type OnRequest } from "../../shared/hours/on-request.ts";
import { formatHours } from "../../shared/hours/text.ts";
import { parseNetworks } from "../../shared/net/networks.ts";
import type { HoursEnd } from "../../shared/product/statuses.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { MAX_DAYS } from "../../shared/time/duration.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { UserRow } from "../../store/schema.ts";
import { onRequestOf, scheduleAt } from "../accounts/access-state.ts";
import {
  MAX_FULL_NAME,
  MAX_NOTE,
  MAX_PURPOSE,
  MAX_SUPERVISOR,
  parseEmail,
  parseText,
  parseUsername,
} from "../accounts/username.ts";
import type { accountCreated } from "../mail/messages.ts";
import type { SponsorPolicy } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { parseSponsor } from "../sponsors/sponsor-email.ts";
import { parseDays } from "./changeable.ts";

export interface NewUser {
  readonly username: string;
  readonly email: string;
  readonly fullName?: string | undefined;
  readonly supervisor?: string | undefined;
  readonly purpose?: string | undefined;
  /** For colleagues: the user cannot read it. */
  readonly note?: string | undefined;
  /** Whole days; 0 or absent means `policy.default_ttl`. */
  readonly ttlDays?: number | undefined;
  /** The end itself, in place of days. */
  readonly expireAt?: Date | undefined;
  /** When access begins; days count from then. */
  readonly startsAt?: Date | undefined;
  /** The hours of the week in which it is open; none for always. */
  readonly hours?: Hours | null | undefined;
  /** What ends with them; by default, sessions and logins. */
  readonly hoursEnd?: HoursEnd | undefined;
  /** Whom they have to ask first, each time; null for nobody. */
  readonly onRequest?: OnRequest | null | undefined;
  /** The networks from which the keys may be used: CIDRs; none for anywhere. */
  readonly sourceNetworks?: readonly string[] | undefined;
  /** The company that they come from, within whose limits all of this lies. */
  readonly companyId?: number | null | undefined;
  /** Whether they may see and end the users of their company. */
  readonly manager?: boolean | undefined;
  /** The address of who answers for them; "" for nobody of their own. */
  readonly sponsorEmail?: string | undefined;
  /** The profile that says what they may do, by its name; null for anything. */
  readonly profile?: string | null | undefined;
  /** The mail to the user; by default `accountCreated`. */
  readonly letter?: typeof accountCreated;
}

/** The columns of the row that the caller chooses. */
export type ParsedUser = Pick<
  UserRow,
  | "username"
  | "email"
  | "fullName"
  | "supervisor"
  | "purpose"
  | "note"
  | "sponsorEmail"
  | "sourceNetworks"
  | "expireAt"
  | "startsAt"
  | "hours"
  | "companyHours"
  | "hoursEnd"
  | "hoursDueAt"
  | "requestRule"
  | "requestHours"
  | "requestGroups"
  | "profile"
>;

/** The rules for each field, of new users, of changes and of applications; each throws `invalid`. */
export const FIELDS = {
  username: ({ username }: Pick<NewUser, "username">) => parseUsername(username),
  email: ({ email }: Pick<NewUser, "email">) => parseEmail(email),
  fullName: ({ fullName = "" }: Pick<NewUser, "fullName">) => parseText("full name", fullName, MAX_FULL_NAME),
  supervisor: ({ supervisor = "" }: Pick<NewUser, "supervisor">) => parseText("supervisor", supervisor, MAX_SUPERVISOR),
  purpose: ({ purpose = "" }: Pick<NewUser, "purpose">) => parseText("purpose", purpose, MAX_PURPOSE),
  note: ({ note = "" }: Pick<NewUser, "note">) => parseText("note", note, MAX_NOTE),
  sourceNetworks: ({ sourceNetworks = [] }: Pick<NewUser, "sourceNetworks">) => [...parseNetworks(sourceNetworks)],
  requestRule: ({ onRequest }: Pick<NewUser, "onRequest">) => onRequestColumns(onRequest ?? null),
  hours: ({ hours }: Pick<NewUser, "hours">) => (limits(hours) ? formatHours(checkHours(hours)) : null),
} as const;

/** What the fields of a new user are checked against. */
export interface Rules {
  readonly now: Date;
  /** In milliseconds. */
  readonly defaultTtl: number;
  readonly sponsor: SponsorPolicy;
}

/** The row of a new user. Throws `invalid` for the first field that breaks a rule. */
export function parseNewUser(input: NewUser, { now, defaultTtl, sponsor }: Rules): ParsedUser {
  const username = FIELDS.username(input);
  const start = startOf(input, now);
  // The hours of a company come with it.
  const times = { startsAt: start, hours: FIELDS.hours(input), companyHours: null, ...FIELDS.requestRule(input) };
  return {
    username,
    expireAt: endOf(input, { now, start: start ?? now, defaultTtl }),
    ...times,
    hoursDueAt: scheduleAt({ ...times, allowedFrom: null, allowedUntil: null }, now).changesAt,
    hoursEnd: input.hoursEnd ?? "sessions",
    email: FIELDS.email(input),
    fullName: FIELDS.fullName(input),
    supervisor: FIELDS.supervisor(input),
    purpose: FIELDS.purpose(input),
    note: FIELDS.note(input),
    sponsorEmail: parseSponsor(sponsor, input),
    profile: input.profile ?? null,
    sourceNetworks: FIELDS.sourceNetworks(input),
  };
}

type RequestColumn = "requestRule" | "requestHours" | "requestGroups";

function onRequestColumns(given: OnRequest | null): Pick<UserRow, RequestColumn> {
  const checked = given === null ? null : checkOnRequest(given);
  const groups = checked?.groups === undefined ? null : [...checked.groups];
  return { requestRule: checked?.rule ?? null, requestHours: checked?.maxHours ?? null, requestGroups: groups };
}

/** When the user's access begins, null for at once; throws `invalid` for a start in the past, or further away than any end. */
export function startOf({ startsAt = null }: { readonly startsAt?: Date | null | undefined }, now: Date): Date | null {
  if (startsAt === null) return null;
  if (startsAt <= now) throw new UamError("invalid", `starts_at is in the past: ${formatTimestamp(startsAt)}`);
  if (startsAt > shift(now, MAX_DAYS * DAY))
    throw new UamError("invalid", `starts_at is more than ${MAX_DAYS} days away`);
  return startsAt;
}

/**
 * When the user's access ends, days counted from its start; throws `invalid` for an end that is not after the start, or later than anybody is
 * given at once.
 */
export function endOf(
  { ttlDays, expireAt }: NewUser,
  { now, start, defaultTtl }: { readonly now: Date; readonly start: Date; readonly defaultTtl: number },
): Date {
  const days = parseDays(ttlDays);
  if (expireAt === undefined) return shift(start, days > 0 ? days * DAY : defaultTtl);
  if (days > 0) throw new UamError("invalid", "Give expire_at or ttl_days, not both");
  if (expireAt <= now) throw new UamError("invalid", `expire_at is in the past: ${formatTimestamp(expireAt)}`);
  if (expireAt <= start) throw new UamError("invalid", "expire_at is not after starts_at");
  if (expireAt > shift(start, MAX_DAYS * DAY)) {
    throw new UamError("invalid", `expire_at is more than ${MAX_DAYS} days away`);
  }
  return expireAt;
}

/** What the record of a creation says besides the username. */
export function createdDetail(user: ParsedUser): AuditDetail {
  const onRequest = onRequestOf(user);
  return {
    email: user.email,
    ...(user.fullName === "" ? {} : { full_name: user.fullName }),
    ...(user.note === "" ? {} : { note: user.note }),
    ...(user.sponsorEmail === "" ? {} : { sponsor_email: user.sponsorEmail }),
    ...(user.startsAt === null ? {} : { starts_at: formatTimestamp(user.startsAt) }),
    expire_at: formatTimestamp(user.expireAt),
    ...(user.hours === null ? {} : { hours: user.hours }),
    ...(user.companyHours === null ? {} : { company_hours: user.companyHours }),
    ...(user.profile === null ? {} : { profile: user.profile }),
    ...(user.hoursEnd === "sessions" ? {} : { hours_end: user.hoursEnd }),
    ...(onRequest === null ? {} : { on_request: formatOnRequest(onRequest) }),
    ...(user.sourceNetworks.length === 0 ? {} : { source_networks: user.sourceNetworks.join(", ") }),
  };
}
