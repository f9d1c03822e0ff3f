/** Reviews of access. */

import { count, inLanguage, number } from "../language.ts";

const users = (amount: number) => count(amount, "user", "users");
const are = (amount: number) => `${users(amount)} ${amount === 1 ? "is" : "are"}`;

const en = {
  title: "Reviews",
  lead: "Is the access of each user still right? Whoever is not answered for by the day is disabled, or only listed.",
  empty: "No review has begun yet.",
  sponsors: "Sponsors",
  columns: { scope: "Whose access", status: "Status", due: "Day", answers: "Answers" },
  scope: (kind: string, name: string) => {
    const what = { company: "Company", host_group: "Group", sponsor: "Sponsor" }[kind];
    return what === undefined ? "Everybody" : `${what} ${name}`;
  },
  status: { open: "open", closed: "closed" },
  counts: (unanswered: number, kept: number, ended: number, shortened: number) =>
    `${number(unanswered)} not answered, ${number(kept)} kept, ${number(ended)} ended, ${number(shortened)} shortened`,
  next: {
    none: "No review begins by itself.",
    hidden: "Owners set whether a review of everybody begins by itself.",
    every: (words: string, when: string) => `A review of everybody begins by itself every ${words}${when}.`,
    on: (day: string) => `: the next one on ${day}`,
    due: ": the next one is due",
    counted: ", counted from the last one or from when this was set",
    set: "Set how often",
  },
  begin: {
    open: "Begin a review",
    submit: "Begin it",
    busy: "Beginning …",
    scope: "Whose access",
    scopes: { all: "Everybody", company: "Of a company", host_group: "With a group of hosts", sponsor: "Of a sponsor" },
    which: "Which one",
    choose: "Choose …",
    days: "Days to answer",
    daysWrong: (most: number) => `Type a whole number from 1 to ${number(most)}.`,
    about: (total: number) =>
      total === 0
        ? "Nobody of them has access, so there is nothing to review."
        : `The review is about ${users(total)}.`,
    mailed: (sponsors: number, sponsored: number) =>
      `${count(sponsors, "sponsor is", "sponsors are")} asked about ${users(sponsored)} by mail.`,
    rest: (amount: number) => `Owners and operators answer for ${users(amount)}, here.`,
    done: (total: number) => `The review of ${users(total)} has begun.`,
  },
  unanswered: {
    label: "Who is not answered for",
    ways: { disable: "Is disabled", report: "Is only listed" },
  },
  one: (id: number) => `Review ${id}`,
  report: "Report (CSV)",
  show: "Show",
  shows: { open: "Not answered", all: "Everybody" },
  nothing: "Everybody is answered for.",
  asked: (sponsor: string) => `${sponsor} is asked by mail.`,
  waits: "Waits for owners and operators.",
  grace: "The answer may wait until",
  facts: {
    name: "Name",
    company: "Company",
    purpose: "Purpose",
    ends: "Access ends",
    hosts: "Hosts",
    from: "From",
    hours: "Hours",
    profile: "Profile",
    keys: "Keys",
    noKeys: "none",
    noUse: "no use known",
    used: "used",
    logins: "Logins in 90 days",
    last: ", last",
    created: "Created",
    extended: "Extended",
    by: "by",
    drift: "Differs",
  },
  said: {
    keep: "Keeps the access",
    end: "Access ended",
    shorten: "Ends earlier",
    unanswered: "Nobody answered in time",
    gone: "Had no access any more",
  },
  selectAll: (shown: number) => `Select all ${number(shown)} on this page`,
  select: (name: string) => `Select ${name}`,
  selected: (amount: number) => `${number(amount)} selected`,
  several: "Answer for several users",
  answers: { keep: "Keep …", end: "End …", shorten: "Shorten …", grace: "Leave open …" },
  who: (names: readonly string[]) => (names.length === 1 ? (names[0] ?? "") : users(names.length)),
  answer: {
    title: (what: string, who: string) => `${what} the access of ${who}`,
    effects: {
      keep: "Nothing changes. Once given, an answer stays.",
      end: "They are disabled at once, and their sessions end.",
      shorten: "Their access ends then.",
      grace: "The answer may wait until then: at the latest 7 days after the review's day.",
    },
    until: "Until",
    busy: "Sending …",
    done: (who: string) => `${who}: the answer is stored.`,
  },
  close: {
    open: "Close …",
    title: "Close the review",
    submit: "Close it now",
    busy: "Closing …",
    disable: (open: number) => `${are(open)} disabled at once.`,
    report: (open: number) => `${are(open)} only listed, and keep the access.`,
    stays: "A closed review never changes.",
    done: { open: "The review is being closed.", closed: "The review is closed." },
  },
  waiting: {
    title: "Reviews wait for owners and operators",
    some: (amount: number) => `${are(amount)} not answered for`,
  },
};

export const reviewTexts = inLanguage({ en });
