/** That an address has filters which do not count. */

import { searchOf } from "./api.ts";
import { type Filters, oddFilters, type Query } from "./odd-filters.ts";
import { common } from "./texts/common.ts";
import { cut } from "./ui/isolated.ts";
import { Notice } from "./ui/notice.tsx";

/** So many characters of what stands in the address are shown. */
const SHOWN = 80;
/** More values are not enumerated. */
const MOST = 8;

interface OddFiltersProps {
  /** The address of the page. */
  readonly path: string;
  readonly query: Query;
  readonly filters: Filters;
}

/** Says which filters do not count, and leads to the list without them. Nothing where all of them do. */
export function OddFilters({ path, query, filters }: OddFiltersProps) {
  const odd = oddFilters(query, filters);
  if (odd.length === 0) return null;
  const rest = Object.fromEntries(Object.entries(query).filter(([name]) => !odd.includes(name)));
  return (
    <Notice kind="warn" title={common.odd.title}>
      <ul>
        {odd.map((name) => {
          const values = filters[name];
          return (
            <li key={name}>
              <bdi class="typed">{cut(`${name}=${query[name]}`, SHOWN)}</bdi>
              {typeof values === "object" && values.length <= MOST
                ? `: ${common.odd.possible(values.filter(Boolean))}`
                : null}
            </li>
          );
        })}
      </ul>
      <a href={`${path}${searchOf(rest)}`}>{common.odd.without}</a>
    </Notice>
  );
}
