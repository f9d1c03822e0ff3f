/** The dashboard. */

import { count, inLanguage, number } from "../language.ts";

const en = {
  title: "Dashboard",
  clear: "Nothing needs you today.",
  unsent: {
    title: "No mail is set up",
    text: "Codes, invitations and warnings reach nobody. Set UAM_SMTP_URL or UAM_RESEND_API_KEY in uam.env on the service's host. Until then, uam otp NAME prints a code there to hand over.",
  },
  counters: {
    title: "Users now",
    active: "active",
    open: "open now",
    disabled: "disabled",
    expired: "expired",
    total: "users in all",
  },
  requests: {
    title: (total: number) => `${count(total, "request waits", "requests wait")} for a decision`,
    access: "applies for access",
    extension: (days: number | null) =>
      days === null ? "asks for more time" : `asks for ${count(days, "more day", "more days")}`,
    for: (supervisor: string) => `For ${supervisor}`,
    more: (amount: number) => `${number(amount)} more`,
    all: "See them in full",
  },
  ends: {
    title: (amount: number) => `Access of ${count(amount, "user", "users")} ends within 30 days`,
    hint: "It ends by itself. Extend those who need it for longer.",
    all: "All users, soonest first",
    extendOf: (name: string) => `Extend … ${name}`,
    letGo: "Let go …",
    letGoOf: (name: string) => `Let go … ${name}`,
    asPlanned: (amount: number) => `${count(amount, "more ends", "more end")} as planned.`,
    show: "Show",
  },
  letGo: {
    title: (name: string) => `Let ${name} go`,
    when: "When access ends",
    ways: { planned: (date: string) => `On ${date}, as planned`, now: "Now: disable the account" },
    stays: (name: string, date: string) => `Access of ${name} stays as it is, and ends on ${date}.`,
    leaves: "This list no longer names them until you log out, unless their end is moved.",
    submit: { planned: "Let it end", now: "Disable now" },
    busy: { planned: "One moment …", now: "Disabling …" },
    planned: (name: string, date: string) => `${name}: access ends on ${date}, as planned.`,
    disabled: (name: string) => `${name} was disabled.`,
  },
  wrong: {
    title: "This needs somebody now",
    incidents: (amount: number) =>
      amount === 1
        ? "A user shut their own account: “This was not me”"
        : `${number(amount)} users shut their own accounts: “This was not me”`,
    incidentAdvice:
      "Somebody else may have had a key of theirs, or their mailbox. Ask them, look at their keys and sessions, then enable the account again, or delete it.",
    mail: "Mail is not delivered",
    mailWaiting: (amount: number) => `${count(amount, "mail is", "mails are")} tried again and again.`,
    mailLost: (amount: number) => `${count(amount, "mail", "mails")} of the last 7 days could not be sent at all.`,
    mailError: "The newest error:",
    backup: "The newest backup is too old",
    backupOf: "It was made on",
    backupUntried: "Nobody tried since.",
    backupFailed: "Since then it failed:",
    sponsors: (amount: number) => `${count(amount, "sponsor", "sponsors")} not reached by mail`,
    receivers: (amount: number) => `${count(amount, "receiver", "receivers")} of audit records not reached`,
    waits: "They miss nothing: they are told of everything once they answer.",
    webhooks: "See the webhooks",
    doctor: "This checks the whole installation, at the shell of the host:",
    doctorLabel: "Command that checks the installation",
  },
  problems: {
    some: (amount: number) =>
      amount === 1
        ? "The access of one user is not yet taken away completely"
        : `In ${number(amount)} cases, access is not yet taken away completely`,
    text: "Nothing opens these accounts, and the service tries again by itself, at least once an hour. As root, correct on the host what is named; this tries again at once:",
    command: "Command that tries again at once",
    deleted: (id: number) => `deleted user ${id}`,
    kinds: {
      shut: "all access",
      remove: "the account, for good",
      revoke: "one key",
      narrow: "logins from some networks",
      shorten: "the time after an earlier end",
      leave: "the account on this host alone",
      profile: "what the account may do beyond its profile",
    },
    what: (kind: string) => `To be taken away: ${kind}`,
    since: "Since",
    next: "Next attempt",
    tried: (times: number) => `tried ${count(times, "time", "times")}`,
    underWay: "The first attempt is under way, or was interrupted.",
    more: (amount: number) => `And ${count(amount, "more case", "more cases")}; uam doctor lists all.`,
    repairs: (amount: number) =>
      `${count(amount, "account was", "accounts were")} put back in order in the last 7 days, or it was tried.`,
    repairsLink: "What was repaired",
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
  figures: "Figures",
  charts: {
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
      show: "Show what failed, logins too",
      series: { changes: "done", failed: "failed" },
      none: "Nothing has been changed yet.",
    },
    tip: (date: string, parts: readonly string[]) => `${date}: ${parts.join(", ")}`,
    part: (name: string, value: number) => `${number(value)} ${name}`,
  },
};

export const dashboardTexts = inLanguage({ en });
