/** The page of who had access. */

import { count, inLanguage, number } from "../language.ts";

const en = {
  title: "Past access",
  lead: "Who could log in at a moment, on which hosts, until when and by whose decision: told from the audit log alone.",
  meaning:
    "Not listed is who had no key, had not started, was outside of their hours, or was on request and allowed nothing. A host with an agent may have followed up to its lease later.",
  fields: {
    at: "At",
    atHint: (zone: string) => `In your time zone, ${zone}. Empty: now.`,
    future: "That lies in the future.",
    host: "Host",
    hostHint: "By the name that it had then",
    company: "Company",
    companyHint: "By the name that it had then",
    show: "Show",
    clear: "Clear all",
  },
  caption: "Accounts that could be logged in to",
  found: (total: number, at: string) =>
    total === 0 ? `Nobody could log in at ${at}` : `${count(total, "account", "accounts")} at ${at}`,
  empty: "No account could be logged in to then, as far as the log tells.",
  complete: (from: string) => `The log answers completely for moments from ${from} on.`,
  lacking: (users: number) =>
    `The log does not reach back far enough: ${users === 1 ? "1 user who was" : `${number(users)} users who were`} created before its oldest record may be missing.`,
  columns: {
    user: "User",
    host: "Host",
    until: "Access until",
    by: "Decided by",
    profile: "What they could do",
    keys: "Keys",
  },
  deleted: "deleted",
  anything: "Anything",
  keys: (total: number) => count(total, "key", "keys"),
  keysOf: (total: number, name: string, host: string) => `${count(total, "key", "keys")} of ${name} on ${host}`,
  recorded: "That you read the log is recorded in it.",
};

export const accessTexts = inLanguage({ en });
