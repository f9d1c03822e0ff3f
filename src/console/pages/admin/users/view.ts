/** Which users are shown, as the address says it. */

import { PAGES } from "../../../../shared/product/pages.ts";
import { ACCESS_STATES, TERMS, USER_STATUSES } from "../../../../shared/product/statuses.ts";
import { type QueryOf, searchOf } from "../../../api.ts";
import { anyText, type Filters } from "../../../odd-filters.ts";
import { pageOf } from "../../../ui/page-number.ts";

export type Sort = NonNullable<(QueryOf<"GET /users"> & object)["sort"]>;

export interface UsersView {
  /** A part of what is known of a user; empty for everybody. */
  readonly q: string;
  readonly status: (typeof USER_STATUSES)[number] | "";
  /** Only those whose access is so now; empty for all. */
  readonly access: (typeof ACCESS_CHOICES)[number];
  /** Exactly this supervisor; empty for any. */
  readonly supervisor: string;
  /** The number of the company that they come from; empty for any. */
  readonly company: string;
  /** The address of who answers for them, or `none`; empty for any. */
  readonly sponsor: string;
  /** `never` for those who never logged in; empty for all. */
  readonly last_used: "never" | "";
  /** Only those who did not log in for so long; empty for all. */
  readonly silent_for: (typeof SILENCES)[number] | "";
  /** Only those who were not yet told of their account; empty for all. */
  readonly welcome: (typeof WELCOMES)[number];
  /** Only those who have not accepted the terms of use; empty for all. */
  readonly terms: (typeof TERMS)[number] | "";
  readonly sort: Sort;
  readonly page: number;
}

export const STATUSES = ["", ...USER_STATUSES] as const;
export const ACCESS_CHOICES = ["", ...ACCESS_STATES] as const;
const NEVER = "never";
const SILENCES = ["30d", "60d", "90d"] as const;
/** Both filters of what people use, as one choice. */
export const USES = ["", NEVER, ...SILENCES] as const;
export const WELCOMES = ["", "pending"] as const;
export const TERMS_CHOICES = ["", ...TERMS] as const;
export const SORTS: readonly Sort[] = ["-created_at", "created_at", "username", "-username", "expire_at", "-expire_at"];
/** Users on a page. */
export const PAGE_SIZE = 25;
/** Longer than any text that the service searches for. */
export const MAX_SEARCH = 128;

/** No address is longer. */
export const MAX_SPONSOR = 254;

const COMPANY = /^[1-9]\d{0,14}$/;
const NEWEST: Sort = "-created_at";

/** What an address may say. */
export const FILTERS: Readonly<Record<Exclude<keyof UsersView, "page">, Filters[string]>> = {
  ...{ q: anyText, supervisor: anyText, sponsor: anyText, company: (value) => COMPANY.test(value) },
  ...{ status: STATUSES, sort: SORTS, last_used: ["", NEVER], silent_for: ["", ...SILENCES] },
  ...{ welcome: WELCOMES, terms: TERMS_CHOICES, access: ACCESS_CHOICES },
};

/** Parses the address; values that make no sense do not count. */
export function readUsersView(query: Readonly<Record<string, string>>): UsersView {
  const isNever = query.last_used === NEVER;
  return {
    q: (query.q ?? "").slice(0, MAX_SEARCH),
    status: STATUSES.find((known) => known === query.status) ?? "",
    access: ACCESS_CHOICES.find((known) => known === query.access) ?? "",
    supervisor: (query.supervisor ?? "").slice(0, MAX_SEARCH),
    sponsor: (query.sponsor ?? "").slice(0, MAX_SPONSOR),
    company: COMPANY.test(query.company ?? "") ? (query.company ?? "") : "",
    last_used: isNever ? NEVER : "",
    // Users who never logged in are silent anyway, and the page has one choice for both.
    silent_for: (isNever ? undefined : SILENCES.find((known) => known === query.silent_for)) ?? "",
    welcome: WELCOMES.find((known) => known === query.welcome) ?? "",
    terms: TERMS_CHOICES.find((known) => known === query.terms) ?? "",
    sort: SORTS.find((known) => known === query.sort) ?? NEWEST,
    page: pageOf(query.page),
  };
}

/** The address of a view; what is as usual is left out. */
export function addressOfUsers({ sort, page, ...filters }: UsersView): string {
  const search = { ...filters, sort: sort === NEWEST ? "" : sort, page: page === 1 ? "" : page };
  return `${PAGES.users}${searchOf(search)}`;
}

/** The same as the service is asked. */
export function askOf(view: UsersView, pageSize = PAGE_SIZE): QueryOf<"GET /users"> {
  const { page, q, supervisor, sponsor, ...rest } = view;
  const asked = {
    q: q.trim(),
    supervisor: supervisor.trim(),
    sponsor: sponsor.trim(),
    ...rest,
    page: String(page),
    page_size: String(pageSize),
  };
  // What is empty is left out of every address.
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ""));
}

/** Whether everybody is shown. */
export function isEverybody({ sort: _, page: __, ...filters }: UsersView): boolean {
  return Object.values(filters).join("").trim() === "";
}
