/** Which users are shown, as the address says it. */

import { PAGES } from "../../../../shared/product/pages.ts";
import { USER_STATUSES } from "../../../../shared/product/statuses.ts";
import { type QueryOf, searchOf } from "../../../api.ts";
import { anyText, type Filters } from "../../../odd-filters.ts";
import { pageOf } from "../../../ui/page-number.ts";

export type Sort = NonNullable<(QueryOf<"GET /users"> & object)["sort"]>;

export interface UsersView {
  /** A part of what is known of a user; empty for everybody. */
  readonly q: string;
  readonly status: (typeof USER_STATUSES)[number] | "";
  /** Exactly this supervisor; empty for any. */
  readonly supervisor: string;
  readonly sort: Sort;
  readonly page: number;
}

export const STATUSES = ["", ...USER_STATUSES] as const;
export const SORTS: readonly Sort[] = ["-created_at", "created_at", "username", "-username", "expire_at", "-expire_at"];
/** Longer than any text that the service searches for. */
export const MAX_SEARCH = 128;

const NEWEST: Sort = "-created_at";

/** What an address may say. */
export const FILTERS: Readonly<Record<Exclude<keyof UsersView, "page">, Filters[string]>> = {
  ...{ q: anyText, supervisor: anyText },
  ...{ status: STATUSES, sort: SORTS },
};

/** Parses the address; values that make no sense do not count. */
export function readUsersView(query: Readonly<Record<string, string>>): UsersView {
  return {
    q: (query.q ?? "").slice(0, MAX_SEARCH),
    status: STATUSES.find((known) => known === query.status) ?? "",
    supervisor: (query.supervisor ?? "").slice(0, MAX_SEARCH),
    sort: SORTS.find((known) => known === query.sort) ?? NEWEST,
    page: pageOf(query.page),
  };
}

/** The address of a view; what is as usual is left out. */
export function addressOfUsers({ q, status, supervisor, sort, page }: UsersView): string {
  const search = { q, status, supervisor, sort: sort === NEWEST ? "" : sort, page: page === 1 ? "" : page };
  return `${PAGES.users}${searchOf(search)}`;
}

/** The same as the service is asked. */
export function askOf(view: UsersView, pageSize: number): QueryOf<"GET /users"> {
  const { q, status, supervisor, sort, page } = view;
  return {
    ...(q.trim() === "" ? {} : { q: q.trim() }),
    ...(status === "" ? {} : { status }),
    ...(supervisor.trim() === "" ? {} : { supervisor: supervisor.trim() }),
    sort,
    page: String(page),
    page_size: String(pageSize),
  };
}

/** Whether everybody is shown. */
export function isEverybody({ q, status, supervisor }: UsersView): boolean {
  return q.trim() === "" && status === "" && supervisor.trim() === "";
}
