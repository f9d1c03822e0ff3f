/** Administrators' roles. */

import type { AdminRole } from "../../../shared/product/statuses.ts";
import { inLanguage } from "../language.ts";

const names: Readonly<Record<AdminRole, string>> = {
  owner: "owner",
  operator: "operator",
  reviewer: "reviewer",
  auditor: "auditor",
};

const en = {
  names,
  title: "Your role does not include this page",
  needed: (role: AdminRole, roles: readonly AdminRole[]) =>
    `You are ${withArticle(names[role])}. This page is for: ${roles.map((name) => names[name]).join(", ")}. Owners can change your role.`,
  readOnly: (role: AdminRole) => `As ${withArticle(names[role])} you can look at everything here, but change nothing.`,
};

export const roleTexts = inLanguage({ en });

function withArticle(name: string): string {
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}
