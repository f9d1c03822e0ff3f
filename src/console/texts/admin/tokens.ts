/** The page about tokens for machines. */

import type { AdminRole } from "../../../shared/product/statuses.ts";
import { inLanguage } from "../language.ts";

/** The permissions of a machine's token, after "It may". */
const may: Readonly<Record<AdminRole, string>> = {
  owner: "do everything that you may as an owner",
  operator: "manage users, their keys and sessions, and applications",
  reviewer: "decide applications, and so who gets access",
  auditor: "read everything and change nothing",
};

const en = {
  title: "Tokens",
  lead: "A token lets a script or another system use this service without a password. It acts for you, and never may do more than you may.",
  caption: "Tokens, newest first",
  columns: {
    name: "Name",
    owner: "Acts for",
    role: "Role",
    status: "Status",
    ends: "Ends",
    used: "Last used",
    networks: "Usable from",
    act: "Revoke",
  },
  status: { active: "active", expired: "ended", revoked: "revoked" },
  anywhere: "anywhere",
  never: "never",
  from: (address: string) => `from ${address}`,
  number: (id: number, madeBy: number | null) =>
    madeBy === null ? `number ${id}` : `number ${id}, made by number ${madeBy}`,
  empty: "There are no tokens yet.",
  pastEnd: "This page is past the end of the list.",
  make: {
    open: "Make a token",
    title: "Make a token",
    name: "Name",
    nameHint: "What it is for, such as “nightly report”. The audit log names it.",
    nameError: "Type a name of 1 to 64 characters.",
    role: "Role",
    roleHint: (role: AdminRole) => `It may ${may[role]}.`,
    days: "Days until it ends",
    daysHint: (most: number) => `1 to ${most}. You are reminded a week before.`,
    daysError: (most: number) => `Type a whole number from 1 to ${most}.`,
    networks: "Usable from",
    networksHint:
      "Networks such as 192.0.2.0/24 or 2001:db8::/32, or single addresses, one a line. Empty: from anywhere.",
    submit: "Make the token",
    busy: "Making the token …",
  },
  made: {
    title: (name: string) => `The token ${name} is made. Store it now: it is shown only here, only once.`,
    label: "The new token",
    may: (role: AdminRole, until: string) => `Until ${until} it may ${may[role]}.`,
    from: (networks: string) => `It may be used from ${networks} only.`,
    anywhere: "It may be used from anywhere: whoever has it has that access. Treat it like a password.",
    use: "The machine sends it with each request, for example:",
    useLabel: "Command that uses the token",
    close: "I have stored it",
    closed: "The token is no longer shown.",
  },
  revoke: {
    open: "Revoke",
    openOf: (name: string, prefix: string) => `Revoke ${name} (${prefix})`,
    title: (name: string) => `Revoke ${name}`,
    effects: [
      "What uses it is refused from the next request on.",
      "The tokens that it made, and those that they made, are revoked as well.",
      "It cannot be given back; a new token can be made.",
      "It stays in this list, and what it did in the audit log.",
    ],
    used: "Last used:",
    submit: "Revoke for good",
    busy: "Revoking …",
    done: (name: string) => `${name} is revoked.`,
  },
};

export const tokensTexts = inLanguage({ en });
