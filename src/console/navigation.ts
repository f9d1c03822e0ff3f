/** Where one can go from every page, by whose session it is. */

import { PAGES } from "../shared/product/pages.ts";
import type { AdminRole } from "../shared/product/statuses.ts";
import { type Area, maySee } from "./roles.ts";
import type { SessionState } from "./session.tsx";
import { common } from "./texts/common.ts";

export interface NavigationLink {
  readonly href: string;
  readonly text: string;
}

/** The links of the header, in order; hosts are among them where there are others than the service's own. */
export function navigationFor(state: SessionState, hasHosts = false): readonly NavigationLink[] {
  if (state.kind === "loading" || state.kind === "failed") return [];
  if (state.kind === "none") return linksOf(["apply", "login"], common.nav.public);
  const { user_type: kind, role = "auditor", needs } = state.principal;
  if (kind === "user") return linksOf(["me", "keys", "connect", "trail", "notMe"], common.nav.user);
  // Until a second factor is set up, which is behind one's name, nothing else is open.
  if (needs !== undefined) return [];
  const areas = (
    ["applications", "users", "hosts", "reviews", "audit", "access", "settings", "admins", "webhooks"] as const
  ).filter((area) => maySee(role, area) && (hasHosts || area !== "hosts") && !isWithinAudit(role, area));
  // One's own login is behind one's name, at the other end of the header.
  return linksOf(["dashboard", ...areas, "tokens"], common.nav.admin);
}

/** Where somebody belongs who has just logged in. */
export function homeOf(kind: "admin" | "user"): string {
  return kind === "admin" ? PAGES.dashboard : PAGES.me;
}

/** The page of the audit log leads there, for those who see it. */
function isWithinAudit(role: AdminRole, area: Area): boolean {
  return area === "access" && maySee(role, "audit");
}

function linksOf<K extends keyof typeof PAGES>(
  names: readonly K[],
  texts: Readonly<Record<K, string>>,
): NavigationLink[] {
  return names.map((name) => ({ href: PAGES[name], text: texts[name] }));
}
