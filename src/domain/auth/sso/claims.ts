/**
 * The meaning of claims here: a role, a name, an address. Claims may be anything, and are never trusted to have a
 * shape.
 */

import type { RoleRule } from "../../../shared/product/role-rules.ts";
import { ADMIN_ROLES, type AdminRole } from "../../../shared/product/statuses.ts";
import { isEmail } from "../../../shared/text/person.ts";
import type { Claims } from "./provider.ts";

/** The highest role that the rules give these claims, in the order of `ADMIN_ROLES`; undefined if they give none. */
export function roleOf(claims: Claims, rules: readonly RoleRule[]): AdminRole | undefined {
  const had = new Set(rules.filter((rule) => has(claims, rule)).map(({ role }) => role));
  return ADMIN_ROLES.find((role) => had.has(role));
}

/**
 * The claim of that name, or else the value at a path with dots, as in `realm_access.roles`; undefined if there is none. Only
 * properties that the provider sent, never inherited ones.
 */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let at: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof at !== "object" || at === null || Array.isArray(at) || !Object.hasOwn(at, part)) return undefined;
    at = (at as Claims)[part];
  }
  return at;
}

/** The address that the provider vouches for, or undefined. */
export function emailOf(claims: Claims): string | undefined {
  const { email } = claims;
  return claims.email_verified !== false && typeof email === "string" && isEmail(email) ? email : undefined;
}

/** Longest name before a number follows it; an administrator's has at most 64 characters. */
const LONGEST_NAME = 56;

/** An administrator's name from the claims; it may be taken. */
export function nameOf(claims: Claims): string {
  const wanted = [claims.preferred_username, claims.email].find((text) => typeof text === "string" && text !== "");
  // Cut to the maximum first: a claim may be a megabyte long.
  const name = String(wanted ?? "").slice(0, 256);
  const plain = name
    .normalize("NFKD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase()
    .replace(/@.*$/s, "");
  const allowed = plain.replace(/[^a-z0-9._-]+/g, "-").slice(0, LONGEST_NAME);
  return allowed.replace(/^[._-]+|[._-]+$/g, "") || "sso";
}

function has(claims: Claims, { claim, value }: RoleRule): boolean {
  // An address that the provider has not checked is an unverified text.
  if (claim === "email" && claims.email_verified !== true) return false;
  const held = claimAt(claims, claim);
  return held === value || (Array.isArray(held) && held.includes(value));
}
