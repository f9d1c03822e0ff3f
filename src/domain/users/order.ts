/** The orders of lists of users. */

import { asc, desc, type SQL } from "drizzle-orm";
import type { UserSort } from "../../shared/product/user-sorts.ts";
import { users } from "../../store/schema.ts";

/** Ids rise in the order in which users are created, and decide between equals. */
export function orderOf(sort: UserSort): SQL[] {
  const direction = sort.startsWith("-") ? desc : asc;
  const column = columnOf(sort);
  return column === users.id ? [direction(users.id)] : [direction(column), direction(users.id)];
}

function columnOf(sort: UserSort) {
  if (sort.endsWith("username")) return users.username;
  return sort.endsWith("expire_at") ? users.expireAt : users.id;
}

/** The other way round. */
export function opposite(sort: UserSort): UserSort {
  return (sort.startsWith("-") ? sort.slice(1) : `-${sort}`) as UserSort;
}
