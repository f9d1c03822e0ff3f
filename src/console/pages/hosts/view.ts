/** Which hosts are shown, as the address says it. */

import { PAGES } from "../../../shared/product/pages.ts";
import { HOST_STATUSES } from "../../../shared/product/statuses.ts";
import { type QueryOf, searchOf } from "../../api.ts";
import { anyText, type Filters } from "../../odd-filters.ts";
import { pageOf } from "../../ui/page-number.ts";

export interface HostsView {
  /** A part of the name; empty for all. */
  readonly q: string;
  /** The name of a group; empty for any. */
  readonly group: string;
  readonly status: (typeof HOST_STATUSES)[number] | "";
  readonly page: number;
}

/** As long as a host's name. */
export const MAX_NAME = 63;
export const STATUSES = ["", ...HOST_STATUSES] as const;

/** What an address may say. */
export const FILTERS: Readonly<Record<Exclude<keyof HostsView, "page">, Filters[string]>> = {
  ...{ q: anyText, group: anyText },
  status: STATUSES,
};

/** Parses the address; values that make no sense do not count. */
export function readHostsView(query: Readonly<Record<string, string>>): HostsView {
  return {
    q: (query.q ?? "").slice(0, MAX_NAME),
    group: (query.group ?? "").slice(0, MAX_NAME),
    status: STATUSES.find((known) => known === query.status) ?? "",
    page: pageOf(query.page),
  };
}

/** The address of a view; what is as usual is left out. */
export function addressOfHosts(view: Partial<HostsView>): string {
  const { q, group, status, page } = view;
  return `${PAGES.hosts}${searchOf({ q, group, status, page: page === 1 ? "" : page })}`;
}

/** The same as the service is asked. */
export function askOf({ q, group, status, page }: HostsView, pageSize: number): QueryOf<"GET /hosts"> {
  return {
    ...(q.trim() === "" ? {} : { q: q.trim() }),
    ...(group === "" ? {} : { group }),
    ...(status === "" ? {} : { status }),
    page: String(page),
    page_size: String(pageSize),
  };
}

/** Whether all hosts are shown. */
export function isAll({ q, group, status }: HostsView): boolean {
  return q.trim() === "" && group === "" && status === "";
}
