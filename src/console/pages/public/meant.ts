/** Which page an address was meant to be that has none. */

import { isPage, PAGES } from "../../../shared/product/pages.ts";
import { isLike } from "../../like.ts";

/** What people call a page, by the part of the address that it has here. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  "/": ["home", "index", "start", "console"],
  "/login": ["signin", "logon"],
  "/apply": ["register", "signup", "request"],
  "/forgot": ["password"],
  "/me/trail": ["activity"],
  "/me/keys": ["sshkeys"],
  "/admin": ["dashboard"],
  "/admin/audit": ["auditlog", "logs"],
  "/admin/account": ["profile"],
  "/admin/applications": ["approvals", "requests"],
  "/admin/admins": ["administrators"],
  "/admin/host-groups": ["groups"],
};

const PATHS = Object.values(PAGES).filter((path) => !path.includes(":"));
/** Those with a page for each number. */
const NUMBERED = Object.values(PAGES).flatMap((path) => (path.endsWith("/:id") ? [path.slice(0, -4)] : []));
const LAST = /[^/]*$/;
const MOST = 3;

/** Paths of pages that somebody may have meant, the likeliest first; none where nothing resembles any. */
export function pagesMeant(address: string): readonly string[] {
  const parts = partsOf(address);
  const found = new Set<string>();
  // From the whole address to its first part: what stands behind is what is likeliest to be too much.
  for (let length = parts.length; length > 0 && found.size < MOST; length--) {
    for (const path of pathsFor(parts.slice(0, length))) if (isPage(path)) found.add(path);
  }
  return [...found].slice(0, MOST);
}

/** In small letters, without what an address gets by being copied or by other programs' habits. */
function partsOf(address: string): readonly string[] {
  return decoded(address)
    .toLowerCase()
    .replace(/[\s.,;:)>\]"']+(?=\/|$)/g, "")
    .replace(/\.(?:html?|php|aspx?|jsp)$/, "")
    .split("/")
    .filter((part) => part !== "");
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    // It says nothing that could be read.
    return address;
  }
}

function pathsFor(parts: readonly string[]): readonly string[] {
  const path = `/${parts.join("/")}`;
  const number = /^\d{1,15}$/.test(parts.at(-1) ?? "") ? parts.at(-1) : undefined;
  const name = (number === undefined ? parts.at(-1) : parts.at(-2)) ?? "";
  const like = pagesCalled(name);
  if (number === undefined) return [path, ...like];
  return [path, ...like.filter((page) => NUMBERED.includes(page)).map((page) => `${page}/${number}`)];
}

/** The pages that are called so, or nearly so: "user", "Hosts", "audti". */
function pagesCalled(name: string): readonly string[] {
  const words = PATHS.map((path) => [path, [lastOf(path), ...(CALLED[path] ?? [])]] as const);
  const called = (fits: (word: string) => boolean) => words.flatMap(([path, all]) => (all.some(fits) ? [path] : []));
  return [...called((word) => word === name), ...called((word) => word !== "" && isLike(word, name))];
}

function lastOf(path: string): string {
  return LAST.exec(path)?.[0] ?? "";
}
