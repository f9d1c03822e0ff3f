/** The settings' page. */

import type { AnswerOf } from "../../../contract/contract.ts";
import { count, inLanguage, number } from "../language.ts";

type SettingKey = AnswerOf<"GET /settings">["items"][number]["key"];

interface SettingWords {
  readonly title: string;
  /** The effect of the value. */
  readonly text: string;
  /** The effect of a change on existing data. */
  readonly note: string;
}

const settings: Readonly<Record<SettingKey, SettingWords>> = {
  "policy.default_ttl": {
    title: "How long access lasts",
    text: "A user who is created, approved or extended without a number of days gets this long.",
    note: "It holds from the next use on. Users who have an expiry keep it.",
  },
  "policy.recycle_period": {
    title: "How long an expired account is kept",
    text: "That long after its expiry, an account is deleted from the host with its home directory. Until then it can be extended.",
    note: "A shorter value takes effect after 24 hours; until then it can be taken back here. The administrators are mailed at once.",
  },
  "policy.audit_retention": {
    title: "How long audit records are kept",
    text: "Older records are deleted for good, and the log says how many and up to when.",
    note: "A shorter value takes effect after 24 hours; until then it can be taken back here. The configuration of the host sets a minimum.",
  },
  "policy.review_every": {
    title: "How often access is reviewed",
    text: "That often a review of everybody begins by itself. Whoever is not answered for by its day is disabled.",
    note: "Off by default, and at least 7 days.",
  },
  "policy.inactive_after": {
    title: "When unused access ends",
    text: "Who neither logs in nor uses a key for that long is disabled. They are mailed 14 days and 1 day before.",
    note: "Off by default, and at least 15 days.",
  },
};

const en = {
  title: "Settings",
  lead: "How long things last. The host's configuration sets the defaults; what is set here replaces them.",
  settings,
  value: "In force",
  source: "Set by",
  byDefault: "the host's configuration",
  byOverride: "an administrator, here",
  key: "Name in the API",
  pending: (value: string, words: string) => `${value} will be in force ${words}`,
  pendingText: (when: string) =>
    `From ${when} on. Until then the value above is in force, and you can take the change back by setting that value again.`,
  units: {
    d: (value: number) => count(value, "day", "days"),
    h: (value: number) => count(value, "hour", "hours"),
    m: (value: number) => count(value, "minute", "minutes"),
    s: (value: number) => count(value, "second", "seconds"),
  },
  edit: "Change",
  editOf: (title: string) => `Change: ${title}`,
  reset: "Back to the default",
  resetOf: (title: string) => `Back to the default: ${title}`,
  dialog: {
    label: "New value",
    hint: "Whole numbers with the units w, d, h and m, largest first: 90d is 90 days, 2w is two weeks, 1d12h is a day and a half; off where it can be off.",
    empty: "Type a duration such as 90d.",
    wrong: "This is not a duration. Write for example 90d, 2w or 1d12h.",
    see: "See what would happen",
    seeing: "Asking …",
    title: (title: string) => `Change: ${title}`,
    resetTitle: (title: string) => `Back to the default: ${title}`,
    resetText: "The value that was set here is dropped; the one of the host's configuration is in force again.",
    effects: "What will happen",
    becomes: (value: string) => `The new value is ${value}.`,
    later: (when: string) =>
      `It takes effect on ${when}. Until then it can be taken back. The administrators are mailed.`,
    atOnce: "It takes effect at once.",
    deletes: "What it deletes",
    users: (amount: number) =>
      `${count(amount, "expired user is", "expired users are")} deleted for good, with everything in the home directory.`,
    records: (amount: number) =>
      `${number(amount)} audit ${amount === 1 ? "record is" : "records are"} deleted for good.`,
    deletesAt: (when: string) => `Not before ${when}.`,
    nothing: "It deletes nothing that would be kept otherwise.",
    save: "Save this value",
    saveReset: "Go back to the default",
    saving: "Saving …",
  },
  done: (title: string, value: string) => `${title}: ${value}. It is in force.`,
  doneLater: (title: string, value: string, when: string) => `${title}: ${value}. It takes effect on ${when}.`,
};

export const settingsTexts = inLanguage({ en });
