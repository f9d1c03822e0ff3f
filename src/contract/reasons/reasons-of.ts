/** The reasons that a route's refusals can have: those that follow from its entry, and those that the entry names. */

import type { Reason } from "../../shared/product/reasons.ts";
import { rolesFor } from "../../shared/product/roles.ts";
import { ADMIN_ROLES } from "../../shared/product/statuses.ts";
import type { Need, Route } from "../route.ts";

/** Reasons that follow from an entry. */
export interface Implied {
  /** The routes that have them, after "all". */
  readonly routes: string;
  readonly reasons: readonly Reason[];
  readonly holds: (method: string, route: Route) => boolean;
}

/** What follows from limits, the guard, the origin check, the reading of a request, and the database. */
export const IMPLIED: readonly Implied[] = [
  {
    routes: "routes",
    reasons: ["request.too_slow", "request.too_large", "service.not_ready", "database.full", "internal"],
    holds: () => true,
  },
  {
    routes: "routes that read a parameter or a body, or need a session",
    reasons: ["request.invalid"],
    holds: (_, route) => readsInput(route) || route.who.permission !== "public",
  },
  { routes: "changes", reasons: ["request.origin", "audit.unrecorded"], holds: isChange },
  {
    routes: "routes that need a session or have a limit",
    reasons: ["rate.limited"],
    holds: (_, { who }) => who.permission !== "public" || who.limit !== undefined,
  },
  {
    routes: "routes that need a session",
    reasons: ["session.missing", "token.wrong", "token.revoked", "token.expired", "token.network", "token.misplaced"],
    holds: (_, route) => needOf(route) !== undefined,
  },
  {
    routes: "changes in a session",
    reasons: ["rate.refused"],
    holds: (method, route) => isChange(method) && needOf(route) !== undefined,
  },
  {
    routes: "routes for administrators, or for external users, only",
    reasons: ["session.wrong_kind"],
    holds: (_, { who }) => who.permission === "admin" || who.permission === "user",
  },
  {
    routes: "changes by external users that do not only take access away",
    reasons: ["rate.changes"],
    holds: (method, { who, onlyTakesAway }) =>
      isChange(method) && (who.permission === "user" || who.permission === "session") && onlyTakesAway !== true,
  },
  {
    routes: "routes that take no token",
    reasons: ["token.not_allowed"],
    holds: (_, route) => needOf(route)?.sessionOnly === true,
  },
  {
    routes: "routes for administrators, but those that set up a second factor",
    reasons: ["login.factor_needed"],
    holds: (_, route) => route.who.permission === "admin" && needOf(route)?.setsUp !== true,
  },
  {
    routes: "routes that not every role may call",
    reasons: ["role.insufficient"],
    holds: (method, route) => {
      const least = needOf(route)?.least;
      return least !== undefined && rolesFor(least, isChange(method) ? "change" : "read").length < ADMIN_ROLES.length;
    },
  },
  {
    routes: "routes that an agent signs its requests to",
    reasons: ["agent.unknown", "agent.stale", "agent.repeated", "agent.version"],
    holds: (_, { who }) => who.permission === "agent",
  },
];

/** All reasons that a refusal of the route can have, in alphabetical order. */
export function reasonsOf(method: string, route: Route): readonly Reason[] {
  const implied = IMPLIED.flatMap(({ holds, reasons }) => (holds(method, route) ? reasons : []));
  return [...new Set([...implied, ...(route.reasons ?? [])])].sort();
}

/** Whether the route reads a parameter or a body. */
export function readsInput({ body, query, params }: Route): boolean {
  return (body ?? query ?? params) !== undefined;
}

/** HEAD is answered as GET is. */
function isChange(method: string): boolean {
  return method !== "GET";
}

/** What a route needs of a person, or a machine with a token. */
function needOf({ who }: Route): Need | undefined {
  return who.permission === "public" || who.permission === "agent" ? undefined : who;
}
