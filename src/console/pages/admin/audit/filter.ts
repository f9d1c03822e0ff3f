/** Which records are looked for: in the address, as query parameters of the API; in the form, as fields. */

import { MAX_SEARCH } from "../../../../shared/product/limits.ts";
import { PAGES } from "../../../../shared/product/pages.ts";
import { searchOf } from "../../../api.ts";
import { localOf } from "../../../local-time.ts";
import { anyText, type Filters, oddFilters } from "../../../odd-filters.ts";
import { actionTexts } from "../../../texts/admin/actions.ts";
import { auditTexts } from "../../../texts/admin/audit.ts";
import { now } from "../../../ui/clock.ts";

/** The filters by their names in the API and in the address. */
export const FILTERS = [
  "q",
  "actor",
  "action",
  "resource_type",
  "resource_id",
  "result",
  "user_id",
  "since",
  "until",
] as const;

/** Texts as they were typed or sent; "" for none. `since` and `until` are RFC 3339. */
export type AuditFilter = Readonly<Record<(typeof FILTERS)[number], string>>;

export const NO_FILTER: AuditFilter = {
  ...{ q: "", actor: "", action: "", resource_type: "", resource_id: "" },
  ...{ result: "", user_id: "", since: "", until: "" },
};

/** The filter in an address; values that the service would refuse do not count. */
export function filterOf(query: Readonly<Record<string, string>>): AuditFilter {
  const odd = oddFilters(query, VALUES);
  return Object.fromEntries(
    FILTERS.map((name) => [name, odd.includes(name) ? "" : (query[name] ?? "")]),
  ) as AuditFilter;
}

const isMoment = (value: string) => localOf(value) !== "";

/** What an address may say; the service looks more closely at moments. */
export const VALUES: Readonly<Record<(typeof FILTERS)[number], Filters[string]>> = {
  ...{ q: (value) => value.trim().length <= MAX_SEARCH, actor: anyText, resource_id: anyText },
  action: Object.keys(actionTexts.actions),
  resource_type: Object.keys(auditTexts.filter.types),
  result: Object.keys(auditTexts.filter.results),
  user_id: (value) => /^\d+$/.test(value.trim()),
  ...{ since: isMoment, until: isMoment },
};

/** Spans of time that are chosen at once, by their names: since when, in the reader's time zone; "" is ever. */
export const RANGES = {
  all: () => "",
  today: () => daysBack(0),
  week: () => daysBack(7),
  month: () => daysBack(30),
  thisMonth: () => daysBack(today().getDate() - 1),
} as const;

const today = () => new Date(now());

/** Midnight so many days ago, so that a range stays the same for a day. */
function daysBack(days: number): string {
  const day = today();
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - days).toISOString();
}

/** The address of a page of the records that match. */
export function auditHref(filter: Partial<AuditFilter>, page = 1): string {
  const given = Object.fromEntries(FILTERS.map((name) => [name, (filter[name] ?? "").trim()]));
  return `${PAGES.audit}${searchOf({ ...given, page: page === 1 ? undefined : page })}`;
}
