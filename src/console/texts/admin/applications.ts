/** The page where applications are decided. */

import { MAX_DAYS } from "../../../shared/time/duration.ts";
import { count, inLanguage, number } from "../language.ts";

const en = {
  title: "Applications",
  listLabel: "Applications",
  order: (status: "pending" | "approved" | "rejected" | "all", total: number) =>
    status === "pending"
      ? `${count(total, "waits", "wait")} for a decision, the oldest first.`
      : `${count(total, "application", "applications")}, the newest first.`,
  aside: { label: "Filters and shortcuts" },
  filters: {
    title: "Show",
    status: "Status",
    statuses: { pending: "Waiting for a decision", approved: "Approved", rejected: "Rejected", all: "All" },
    kind: "Asked for",
    kinds: { all: "Anything", access: "An account", extension: "More time", access_request: "Access on request" },
    drop: "Show what waits for a decision",
  },
  empty: {
    queue: "Nothing waits for a decision.",
    filtered: "There is no such application.",
    hint: "When somebody applies, or a user asks for more time, it appears here and you get an e-mail.",
  },
  shortcuts: {
    title: "Keyboard",
    where:
      "While an application has the focus. The first one has it when you come from a mail; from the heading, press Tab once.",
    keys: [
      [["j", "↓"], "next"],
      [["k", "↑"], "previous"],
      [["a"], "approve; then Enter"],
      [["r"], "reject; then Ctrl+Enter"],
    ] as readonly (readonly [readonly string[], string])[],
  },
  card: {
    access: (name: string) => `${name} asks for access`,
    extension: (name: string, days: number) => `${name} asks for ${count(days, "more day", "more days")}`,
    request: (name: string, hours: number, hosts: readonly string[]) =>
      `${name} asks for access for ${count(hours, "hour", "hours")}${hosts.length === 0 ? "" : `, to ${hosts.join(", ")}`}`,
    sameName: (name: string, total: number) =>
      `${count(total, "application", "applications")} on this page ask for the name ${name}. Only one of them can get it.`,
    purpose: "Purpose",
    hoursWish: "Hours wished for",
    why: "Reason",
    fullName: "Name",
    supervisor: "Supervisor",
    sponsor: "Sponsor",
    answers: {
      none: "not asked yet.",
      asked: "asked, no answer yet.",
      vouched: "answers for them.",
      declined: "does not answer for them.",
    },
    email: "E-mail",
    account: "Host account",
    nothing: "not given",
    asked: "Asked",
    by: "by",
    reason: "Reason",
    approve: "Approve …",
    approveOf: (name: string) => `Approve … ${name}`,
    reject: "Reject …",
    rejectOf: (name: string) => `Reject … ${name}`,
    mistake: "Rejected by mistake?",
    create: "Create the user …",
    createOf: (name: string) => `Create the user … ${name}`,
  },
  approve: {
    title: (name: string) => `Approve access for ${name}`,
    titleExtension: (name: string) => `Approve more time for ${name}`,
    days: "Days of access",
    daysHint: (standard: number | undefined) =>
      standard === undefined
        ? "Empty means the default."
        : `Empty means the default, ${count(standard, "day", "days")}.`,
    daysMore: "More days",
    daysMoreHint: (days: number) => `${count(days, "day was", "days were")} asked for.`,
    daysWrong: `Give a whole number of days from 1 to ${number(MAX_DAYS)}, or nothing for the default.`,
    create: "Create the account now",
    sponsor: "Sponsor's e-mail",
    sponsorHint: "Who answers for them; empty for nobody, or their company's sponsor.",
    hours: "Hours of the week",
    submit: "Approve",
    busy: "Approving …",
  },
  allow: {
    title: (name: string) => `Let ${name} in`,
    submit: "Allow",
    busy: "Opening …",
  },
  reject: {
    titleRequest: (name: string) => `Refuse the access of ${name}`,
    title: (name: string) => `Reject the application of ${name}`,
    titleExtension: (name: string) => `Reject more time for ${name}`,
    reason: "Reason",
    reasonHint: "It is mailed to whoever asked. Ctrl+Enter rejects.",
    reasonMissing: "A rejection needs a reason.",
    submit: "Reject",
    busy: "Rejecting …",
  },
  effects: {
    created: (account: string) => `The account ${account} is created on the host.`,
    until: (date: string | undefined) =>
      date === undefined ? "Access ends after the default number of days." : `Access ends on ${date}.`,
    notCreated: (account: string) =>
      `The application is closed. ${account} is not created; you can do that on the page Users.`,
    extended: (name: string, days: number) =>
      `Access of ${name} ends ${count(days, "day", "days")} later, or that long from now if it has expired.`,
    moved: (name: string, before: string, after: string) => `Access of ${name} ends on ${after}, instead of ${before}.`,
    mailStart: (email: string) => `${email} gets a mail that says how to log in.`,
    mail: (email: string) => `${email} gets a mail.`,
    mailReason: (email: string) => `${email} gets a mail with the reason.`,
    noAccount: (account: string) =>
      `${account} is not created. This cannot be taken back: they can apply again, or you create them on the page Users.`,
    allowed: (account: string, hours: number) =>
      `${account} opens at once, for ${count(hours, "hour", "hours")} from now, or as long as the user may have now.`,
    shut: (name: string) => `${name} gets no access now, and can ask again.`,
    stays: (name: string) => `Access of ${name} ends when it would have ended.`,
  },
  done: {
    created: (name: string) => `${name}: approved, and the account is created.`,
    approved: (name: string) => `${name}: approved, without an account.`,
    extended: (name: string) => `${name}: approved, and access is extended.`,
    allowed: (name: string) => `${name}: access is open.`,
    rejected: (name: string) => `${name}: rejected.`,
  },
  decided: {
    label: "Decided since you opened this page",
    last: "Nothing is left to decide here.",
  },
};

export const applicationTexts = inLanguage({ en });
