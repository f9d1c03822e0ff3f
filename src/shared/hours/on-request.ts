/** Access on request: who allows it, and for how long at most; as text `self:4h`, or `self:4h@web,db` for hosts of these groups only. */

import { UamError } from "../errors.ts";
import { REQUEST_RULES, type RequestRule } from "../product/statuses.ts";
import { HOST_NAME } from "../text/host-name.ts";

/** Who has such access has none until they ask. */
export interface OnRequest {
  readonly rule: RequestRule;
  /** Access never reaches further than this many hours from the moment at which it was asked for or allowed. */
  readonly maxHours: number;
  /** The groups of hosts whose hosts they may ask for, by name; absent: every host of theirs. */
  readonly groups?: readonly string[] | undefined;
}

/** More are no list that anybody reads. */
export const MAX_REQUEST_GROUPS = 50;

/** A week. */
export const MAX_REQUEST_HOURS = 168;

/** A request that nobody has answered for this many days is void. */
export const REQUEST_DAYS = 7;
/** The reason that is stored with it then. */
export const UNANSWERED = "Nobody answered in time";

const TEXT = /^([a-z]+):([1-9]\d{0,3})h(?:@(.+))?$/;

/** The same, each group once; throws `invalid` for a number of hours that is not whole, or out of range, and for a list of groups that names none. */
export function checkOnRequest({ rule, maxHours, groups }: OnRequest): OnRequest {
  checkRequestHours(maxHours, "max_hours");
  if (groups === undefined) return { rule, maxHours };
  if (groups.length === 0)
    throw new UamError("invalid", "groups names no group of hosts; leave it out for every host of theirs");
  if (groups.length > MAX_REQUEST_GROUPS)
    throw new UamError("invalid", `groups has at most ${MAX_REQUEST_GROUPS} names`);
  const wrong = groups.find((name) => !HOST_NAME.test(name));
  if (wrong !== undefined)
    throw new UamError("invalid", `Not the name of a group of hosts: ${JSON.stringify(wrong.slice(0, 63))}`);
  return { rule, maxHours, groups: [...new Set(groups)].sort() };
}

/** Throws `invalid` for a number of hours that nobody can be allowed. */
export function checkRequestHours(hours: number, name = "hours"): void {
  if (Number.isInteger(hours) && hours >= 1 && hours <= MAX_REQUEST_HOURS) return;
  throw new UamError("invalid", `${name} must be a whole number from 1 to ${MAX_REQUEST_HOURS}`);
}

/** What the text says; throws `invalid` for one that says nothing. */
export function parseOnRequest(text: string): OnRequest {
  const [, rule, hours, groups] = TEXT.exec(text.trim()) ?? [];
  const known = REQUEST_RULES.find((one) => one === rule);
  if (known === undefined) {
    const shown = JSON.stringify(text.slice(0, 40));
    throw new UamError("invalid", `Not a rule such as self:4h, sponsor:8h or review:24h: ${shown}`);
  }
  return checkOnRequest({ rule: known, maxHours: Number(hours), groups: groups?.split(",") });
}

/** The text that `parseOnRequest` reads as the same. */
export function formatOnRequest({ rule, maxHours, groups }: OnRequest): string {
  return `${rule}:${maxHours}h${groups === undefined ? "" : `@${groups.join(",")}`}`;
}
