/** Which views the documents show. */

import { join } from "node:path";
import type { PageName } from "../../../src/shared/product/pages.ts";

/** Where the pictures are. */
export const PLACE = join(import.meta.dir, "../../../docs/pictures");

export const SCHEMES = ["light", "dark"] as const;

/** All pictures together weigh at most this, in bytes. */
export const MOST = 800_000;

export interface View {
  readonly page: PageName;
  readonly who: "admin" | "user";
}

/** By the name of the file, without scheme and ending. */
export const PICTURES: Readonly<Record<string, View>> = {
  overview: { page: "me", who: "user" },
  keys: { page: "keys", who: "user" },
  connect: { page: "connect", who: "user" },
  dashboard: { page: "dashboard", who: "admin" },
  applications: { page: "applications", who: "admin" },
  users: { page: "users", who: "admin" },
  user: { page: "user", who: "admin" },
  audit: { page: "audit", who: "admin" },
  access: { page: "access", who: "admin" },
  // At last: the other views are of a single host.
  hosts: { page: "hosts", who: "admin" },
};
