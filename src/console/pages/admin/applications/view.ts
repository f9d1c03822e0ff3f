/** Which applications are shown, as the address says it. */

import { PAGES } from "../../../../shared/product/pages.ts";
import { searchOf } from "../../../api.ts";
import type { Filters } from "../../../odd-filters.ts";
import { pageOf } from "../../../ui/page-number.ts";

export type StatusFilter = "pending" | "approved" | "rejected" | "all";
export type KindFilter = "access" | "extension" | "access_request" | "all";

export interface ApplicationsView {
  readonly status: StatusFilter;
  readonly kind: KindFilter;
  /** 1 is the first one shown, whatever the service calls it. */
  readonly page: number;
}

export const STATUS_FILTERS: readonly StatusFilter[] = ["pending", "approved", "rejected", "all"];
export const KIND_FILTERS: readonly KindFilter[] = ["all", "access", "extension", "access_request"];

/** Without a word in the address: everything that waits for a decision. */
const PLAIN: ApplicationsView = { status: "pending", kind: "all", page: 1 };

/** What an address may say. */
export const FILTERS: Readonly<Record<Exclude<keyof ApplicationsView, "page">, Filters[string]>> = {
  ...{ status: STATUS_FILTERS, kind: KIND_FILTERS },
};

/** Parses the address; values that make no sense do not count. */
export function readView(query: Readonly<Record<string, string>>): ApplicationsView {
  return {
    status: STATUS_FILTERS.find((known) => known === query.status) ?? PLAIN.status,
    kind: KIND_FILTERS.find((known) => known === query.kind) ?? PLAIN.kind,
    page: pageOf(query.page),
  };
}

/** The address of a view; what is as usual is left out. */
export function addressOf({ status, kind, page }: ApplicationsView): string {
  return `${PAGES.applications}${searchOf({
    status: status === PLAIN.status ? undefined : status,
    kind: kind === PLAIN.kind ? undefined : kind,
    page: page === 1 ? undefined : page,
  })}`;
}

/**
 * The service lists the newest first. Who works through what waits begins with the oldest: page 1 is the service's last one.
 * 1 for a page that there is not.
 */
export function fromTheEnd(page: number, total: number, size: number): number {
  const last = Math.max(1, Math.ceil(total / size));
  return Math.max(1, last - page + 1);
}
