/** Lists as tables; on a narrow screen each row becomes a card of few lines, whose values say what they are. */

import type { ComponentChildren } from "preact";
import { common } from "../texts/common.ts";

export interface Column<T> {
  readonly name: string;
  readonly cell: (item: T) => ComponentChildren;
  /** The column that names the row. */
  readonly isHeader?: boolean;
  /** Whether a value needs no name beside it, where there is no room for the row of names. */
  readonly isEvident?: boolean;
}

interface TableProps<T extends { readonly id: number | string }> {
  /** The list's name, for those who do not see where it stands. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
}

/** A table of items. */
export function Table<T extends { readonly id: number | string }>({ caption, columns, items }: TableProps<T>) {
  return (
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.id}>
            {columns.map(({ name, cell, isHeader = false, isEvident = isHeader }) =>
              isHeader ? (
                <th key={name} scope="row">
                  {cell(item)}
                </th>
              ) : (
                <td key={name} data-name={isEvident ? undefined : name}>
                  {cell(item)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface PagerProps {
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  /** The address of another page of the list. */
  readonly href: (page: number) => string;
}

/** Which part of a list is shown, and links to the others; every part has an address. */
export function Pager({ page, pageSize, total, href }: PagerProps) {
  const last = Math.max(1, Math.ceil(total / pageSize));
  if (total === 0) return null;
  const first = (page - 1) * pageSize + 1;
  return (
    <nav class="pager" aria-label={common.pages}>
      {page > 1 ? <a href={href(Math.min(page - 1, last))}>{common.previous}</a> : null}
      <span>
        {first > total ? common.pastEnd(total) : common.range(first, Math.min(first + pageSize - 1, total), total)}
      </span>
      {page < last ? <a href={href(page + 1)}>{common.next}</a> : null}
    </nav>
  );
}

interface PagedTableProps<T extends { readonly id: number | string }> extends TableProps<T>, PagerProps {
  /** The text for a page without items. */
  readonly empty: string;
}

/** A page of a list; where all of it fits on one, nothing leads to others. */
export function PagedTable<T extends { readonly id: number | string }>({ empty, ...list }: PagedTableProps<T>) {
  return (
    <>
      {list.items.length === 0 ? (
        <p class="empty">{empty}</p>
      ) : (
        <div class="table">
          <Table caption={list.caption} columns={list.columns} items={list.items} />
        </div>
      )}
      {list.total > list.pageSize ? (
        <Pager page={list.page} pageSize={list.pageSize} total={list.total} href={list.href} />
      ) : null}
    </>
  );
}
