/** The page about one's own login. */

import { count, inLanguage } from "../language.ts";

const en = {
  title: "Your login",
  who: "You",
  name: "Name",
  email: "E-mail",
  role: "Role",
  changeRole: "An owner can change your role and your address.",
  changeOwn: "You can change your address on the page Administrators.",
  password: {
    title: "Change your password",
    lead: "Your other sessions end at once; this one stays.",
    present: "Present password",
    next: "New password",
    rules: "What the new one must be",
    rule: {
      length: (least: number, most: number) => `${least} to ${most} characters long`,
      name: "without your name in it",
      common: "not one of the most common; four random words are a good start",
    },
    missingPresent: "Type your current password.",
    missing: "Type a new password.",
    short: (has: number, least: number) =>
      `It has ${count(has, "character", "characters")}; it needs at least ${least}.`,
    long: (has: number, most: number) =>
      `It has ${count(has, "character", "characters")}; at most ${most} are possible.`,
    same: "This is your current password.",
    withName: "Your name is in it.",
    wrong: "This is not your current password. Wrong ones count as failed logins, and lock your login for a while.",
    lockedTitle: "Your login is locked for a while",
    locked: "There were too many wrong passwords. This session stays open; try again later.",
    submit: "Change the password",
    busy: "Changing the password …",
    done: "Your password is changed, and your other sessions have ended.",
  },
};

export const accountTexts = inLanguage({ en });
