/** Filters in an address that the service would refuse. */

import { isLike } from "./like.ts";

export type Query = Readonly<Record<string, string>>;
/** By the name of each filter that there is: its values, or whether it may have this one. */
export type Filters = Readonly<Record<string, readonly string[] | ((value: string) => boolean)>>;

const PAGE = /^0*[1-9]\d*$/;

/** Any text. */
export const anyText = () => true;

/** The names in the address that the service would refuse: values that no filter has, and misspelled filters. */
export function oddFilters(query: Query, filters: Filters): readonly string[] {
  const known: Filters = { page: (value) => PAGE.test(value), ...filters };
  return Object.entries(query).flatMap(([name, value]) => {
    const values = Object.hasOwn(known, name) ? known[name] : undefined;
    // What is empty, or resembles no filter, is ignored, as by the service.
    if (value === "") return [];
    if (values === undefined) return Object.keys(known).some((filter) => isLike(name, filter)) ? [name] : [];
    return (typeof values === "function" ? values(value) : values.includes(value)) ? [] : [name];
  });
}
