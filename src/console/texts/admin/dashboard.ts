/** The dashboard. */

import { count, inLanguage, number } from "../language.ts";

const en = {
  title: "Dashboard",
  counters: {
    title: "Users and applications now",
    active: "active",
    disabled: "disabled",
    expired: "expired",
    total: "users in all",
    pending: "waiting for a decision",
  },
  decide: {
    title: "Waiting for your decision",
    none: "Nothing waits for a decision.",
    some: (amount: number) =>
      amount === 1 ? "One application waits for a decision." : `${number(amount)} applications wait for a decision.`,
    access: "applies for access",
    extension: (days: number | null) =>
      days === null ? "asks for more time" : `asks for ${count(days, "more day", "more days")}`,
    open: "Decide",
    look: "Look at them",
  },
  ends: {
    title: "Access that ends soon",
    none: "Nobody's access ends within the next 30 days.",
    some: (amount: number) =>
      amount === 1
        ? "The access of one user ends within the next 30 days."
        : `The access of ${number(amount)} users ends within the next 30 days.`,
    all: "All users, soonest first",
  },
  problems: {
    receivers: (amount: number) =>
      `${count(amount, "receiver", "receivers")} of audit records away for more than an hour`,
    waits: "They miss nothing: they are told of everything once they answer.",
    webhooks: "See the webhooks",
    title: "On the host",
    none: "All is well: no access is waiting to be taken away.",
    above: "Access is still to be taken away: see the top of this page.",
    some: (amount: number) =>
      amount === 1
        ? "The access of one user is not yet taken away completely"
        : `In ${number(amount)} cases, access is not yet taken away completely`,
    text: "Nothing opens these accounts, and the service tries again by itself, at least once an hour. As root, correct on the host what is named; this tries again at once:",
    command: "Command that tries again at once",
    all: "Where and why",
    deleted: (id: number) => `deleted user ${id}`,
    kinds: {
      shut: "all access",
      remove: "the account, for good",
      revoke: "one key",
      narrow: "logins from some networks",
      leave: "the account on this host alone",
    },
    what: (kind: string) => `To be taken away: ${kind}`,
    since: "Since",
    next: "Next attempt",
    tried: (times: number) => `tried ${count(times, "time", "times")}`,
    underWay: "The first attempt is under way, or was interrupted.",
    more: (amount: number) => `And ${count(amount, "more case", "more cases")}; uam doctor lists all.`,
    repairs: (amount: number) =>
      amount === 0
        ? "No account had to be put back in order in the last 7 days."
        : `${count(amount, "account was", "accounts were")} put back in order in the last 7 days, or it was tried.`,
    repairsLink: "What was repaired",
    doctor: "This checks the whole installation, at the shell of the host:",
    doctorLabel: "Command that checks the installation",
  },
  hosts: {
    title: "Hosts by state",
    total: "hosts",
    states: { active: "open", locked: "locked", retiring: "retiring" },
    some: (amount: number) =>
      amount === 1 ? "Something is wrong with a host" : `${number(amount)} things are wrong with hosts`,
    more: (amount: number) => `And ${number(amount)} more.`,
    all: "All hosts",
    first: "Manage accounts on further hosts as well",
  },
  charts: {
    title: "The last and the next 90 days",
    asTable: "The figures as a table",
    day: "Day",
    week: "Week from",
    states: {
      caption: "Users by state",
      summary: (date: string, active: number, disabled: number, expired: number) =>
        `On ${date}: ${number(active)} active, ${number(disabled)} disabled, ${number(expired)} expired.`,
      from: (date: string) => `Counted since ${date}.`,
      series: { active: "active", disabled: "disabled", expired: "expired" },
      none: "Nothing has been counted yet.",
    },
    ends: {
      caption: "Users whose access ends, by week",
      summary: (total: number, most: number, date: string) =>
        total === 0
          ? "Nobody's access ends in the next 90 days."
          : `${count(total, "user's access ends", "users' access ends")} in the next 90 days; most in the week from ${date}: ${number(most)}.`,
      users: "users",
    },
    changes: {
      caption: "Changes a day, without logins",
      summary: (changes: number, failed: number) =>
        `${count(changes, "change", "changes")} in the last 90 days, and ${number(failed)} that failed.`,
      series: { changes: "done", failed: "failed" },
      none: "Nothing has been changed yet.",
    },
    tip: (date: string, parts: readonly string[]) => `${date}: ${parts.join(", ")}`,
    part: (name: string, value: number) => `${number(value)} ${name}`,
  },
};

export const dashboardTexts = inLanguage({ en });
