/** Whom sshd lets in at all: DenyUsers, AllowUsers, DenyGroups and AllowGroups (sshd_config(5)). Pure. */

import { type SshdSettings, valuesOf } from "./sshd-settings.ts";

/** An account, and the names of its groups. */
export interface Admitted {
  readonly name: string;
  readonly groups: readonly string[];
}

export const ADMISSION_LISTS = ["DenyUsers", "AllowUsers", "DenyGroups", "AllowGroups"] as const;

/** The lists that shut the account out, from wherever it comes; all four must let it through. */
export function listsAgainst(
  settings: SshdSettings,
  { name, groups }: Admitted,
): readonly (typeof ADMISSION_LISTS)[number][] {
  return ADMISSION_LISTS.filter((list) => {
    const patterns = valuesOf(settings, list);
    if (patterns.length === 0) return false;
    const isListed = list.endsWith("Users")
      ? matchesList(patterns.map(withoutHost), name)
      : groups.some((group) => matchesList(patterns, group));
    return isListed === list.startsWith("Deny");
  });
}

/** Whether a login with a key alone is enough. */
export function takesKeyAlone(settings: SshdSettings): boolean {
  return /(^|\s)(any|publickey)(\s|$)/.test(valuesOf(settings, "AuthenticationMethods")[0] || "any");
}

function withoutHost(pattern: string): string {
  return pattern.replace(/@.*$/, "");
}

/** ssh_config(5), PATTERNS: `*`, `?`, and `!` that excludes. */
function matchesList(list: readonly string[], value: string): boolean {
  const matches = (pattern: string) => {
    const escaped = pattern
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".");
    return new RegExp(`^${escaped}$`).test(value);
  };
  if (list.some((pattern) => pattern.startsWith("!") && matches(pattern.slice(1)))) return false;
  return list.some((pattern) => !pattern.startsWith("!") && matches(pattern));
}
