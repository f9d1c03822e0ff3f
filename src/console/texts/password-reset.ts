/** Texts of the pages for administrators who have forgotten their password. */

import { count, inLanguage } from "./language.ts";

const en = {
  forgot: {
    title: "Forgotten password",
    lead: "For administrators. External users have no password: they log in with a code by e-mail.",
    submit: "Send me a link",
    submitting: "Asking for a link …",
    sentTitle: "A link is on its way, if there is such an administrator",
    sent: "It goes to that administrator's e-mail address, works once and for 30 minutes, and only the newest one works. A second one can be sent after a minute.",
    again: "Try another name",
    back: "Back to the login",
  },
  reset: {
    title: "Set a new password",
    label: "New password",
    rules: "What it must be",
    rule: {
      length: (least: number, most: number) => `${least} to ${most} characters long`,
      name: "without your username in it",
      common: "not one of the most common; four random words are a good start",
    },
    missing: "Type a new password.",
    short: (has: number, least: number) =>
      `It has ${count(has, "character", "characters")}; it needs at least ${least}.`,
    long: (has: number, most: number) =>
      `It has ${count(has, "character", "characters")}; at most ${most} are possible.`,
    submit: "Set the password",
    submitting: "Setting the password …",
    doneTitle: "The password is set",
    done: "Log in with it now. If this administrator had sessions, they have ended; if the login was locked, it is open again.",
    logIn: "Log in as administrator",
    spentTitle: "This link no longer works",
    spent: "It was used, is older than 30 minutes, or there is a newer one.",
    noneTitle: "The link is needed",
    none: "This page is opened by the link in the mail. If you reloaded it, open the link again: it is kept nowhere but in the mail.",
    another: "Ask for a new link",
  },
};

export const { forgot, reset } = inLanguage({ en });
