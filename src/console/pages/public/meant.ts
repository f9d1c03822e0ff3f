/** Which page an address was meant to be that has none. */

import { isPage, PAGES } from "../../../shared/product/pages.ts";
import { nearMiss } from "../../../shared/text/near-miss.ts";

/** What people call a page, by the part of the address that it has here. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  "": ["home", "index", "start", "console", "ui", "app", "www"],
  "/login": ["signin", "logon", "auth", "session", "sessions"],
  "/apply": ["register", "registration", "signup", "request", "access"],
  "/forgot": ["password", "forgotpassword", "lostpassword"],
  "/me": ["profile", "overview", "dashboard"],
  "/me/trail": ["activity", "history"],
  "/me/keys": ["sshkeys", "ssh", "key"],
  "/admin": ["dashboard", "administration"],
  "/admin/audit": ["auditlog", "log", "logs", "trail", "events"],
  "/admin/account": ["profile", "me", "password", "passkeys"],
  "/admin/applications": ["approvals", "approval", "requests", "queue"],
  "/admin/admins": ["administrators", "administrator"],
  "/admin/settings": ["config", "configuration", "preferences"],
  "/admin/host-groups": ["groups", "group"],
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
  const plain = name.replace(/[-_ ]/g, "");
  const named = (word: string) => PATHS.filter((path) => lastOf(path) === word);
  const alike = Object.keys(CALLED).filter((path) => CALLED[path]?.includes(plain));
  const near = nearMiss(name, [...new Set(PATHS.map(lastOf).filter((word) => word !== ""))]);
  return [...named(name), ...named(`${name}s`), ...alike, ...(near === undefined ? [] : named(near))].map(
    (path) => path || "/",
  );
}

function lastOf(path: string): string {
  return LAST.exec(path)?.[0] ?? "";
}
