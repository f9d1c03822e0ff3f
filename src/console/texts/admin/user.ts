/** One user. */

import { MAX_DAYS } from "../../../shared/time/duration.ts";
import { count, inLanguage, number } from "../language.ts";

/** The effects of a change, wherever one is previewed. */
const effects = {
  title: "What will happen",
  dryRun: "Dry run: what concerns the service's own host is only logged.",
  until: (date: string) => `In your time zone: until ${date}.`,
  host: (changes: number) => `Planned on the host: ${count(changes, "change", "changes")}`,
  opens: (opened: number) => `In all, ${count(opened, "account opens", "accounts open")}.`,
  removes: "What is removed with a home directory cannot be brought back.",
};

export const effectTexts = inLanguage({ en: effects });

/** Why something is done to a user, in the dialogs that do it. */
const reason = {
  label: "Reason",
  hint: "For the audit log. Administrators see it, the user does not.",
};

export const reasonTexts = inLanguage({ en: reason });

const en = {
  title: "User",
  gone: {
    title: (id: number, name: string | undefined) =>
      name === undefined ? `There is no user with the number ${id}` : `${name} was deleted`,
    text: "The user was deleted, or never existed. Owners and auditors find what was recorded in the audit log.",
    deleted: "The host account and its home directory are gone. What was recorded is kept.",
    textWithTrail: "The user was deleted, or never existed. If there was one, the records below are what is kept.",
  },
  facts: {
    label: "Facts",
    status: "Status",
    ends: { expiry: "Access ends", expired: "Access ended", disabled: "Disabled" },
    why: {
      expiry: "Nothing ends it earlier, unless the account is disabled.",
      expired: "The time was up. Extending brings the user back until the account is deleted.",
      disabled: "They cannot log in until the account is enabled again.",
    },
    until: "Expires",
    lastLogin: "Last SSH login",
    noLogin: "none is known with the present keys",
    removed: "Will be deleted",
    removedUnknown: "When the recycle period after the expiry is over; owners see it under Settings.",
    account: "Host account",
    email: "E-mail",
    fullName: "Name",
    supervisor: "Supervisor",
    sponsor: "Sponsor",
    ofCompany: "the company's",
    purpose: "Purpose",
    note: "Note for colleagues",
    nothing: "not given",
    terms: "Terms of use",
    termsPending: "The present ones are not accepted",
    termsAccepted: "Last accepted",
    created: "Created",
    updated: "Last changed",
  },
  actions: {
    extend: "Extend …",
    edit: "Edit …",
    enable: "Enable …",
    disable: "Disable …",
    remove: "Delete …",
  },
  extend: {
    title: (name: string) => `Extend ${name}`,
    days: "More days",
    daysHint: "Counted from the present end of access, or from now if that is over. Empty means the default.",
    daysWrong: `Give a whole number of days from 1 to ${number(MAX_DAYS)}, or nothing for the default.`,
    until: "Or until",
    untilHint: (zone: string) =>
      `Instead of days; a moment before the present end takes access away sooner. In your time zone, ${zone}.`,
    both: "Give days or a date, not both.",
    torn: "Complete the date and the time, or empty them.",
    submit: "Extend",
    busy: "Extending …",
    done: (name: string, until: string) => `${name} was extended until ${until}.`,
  },
  /** In the place of `extend`, where the end is earlier than the present one. */
  shorten: {
    submit: "End it sooner",
    busy: "Moving the end …",
    done: (name: string, until: string) => `Access of ${name} ends sooner now: ${until}.`,
  },
  /** After extending, disabling and enabling. */
  undo: {
    submit: "Undo",
    busy: "Undoing …",
    enabled: (name: string) => `Undone: ${name} is enabled again.`,
    /** After enabling whom this page has disabled. */
    jobs: "Scheduled jobs that were removed stay removed.",
    ends: (name: string, until: string) => `Undone: access of ${name} ends ${until}, as before.`,
    disabled: (name: string) => `Undone: ${name} is disabled, as before.`,
    changed: (name: string) => `${name} was changed again meanwhile, so this stays as it is. Look at what holds now.`,
  },
  disable: {
    title: (name: string) => `Disable ${name}`,
    submit: "Disable",
    busy: "Disabling …",
    done: (name: string, _until: string) => `${name} was disabled.`,
  },
  /** In the place of `disable`, where the time is up. */
  ended: {
    title: (name: string) => `${name} has no access already`,
    since: (date: string) => `Access ended on ${date}. There is nothing left to disable.`,
    kept: "The account and its home are kept until the recycle period is over. Until then, extending gives access again.",
    keptUntil: (date: string) =>
      `The account and its home are kept until ${date}, when they are deleted. Until then, extending gives access again. If they are to go at once, delete the user now.`,
  },
  enable: {
    title: (name: string) => `Enable ${name}`,
    submit: "Enable",
    busy: "Enabling …",
    done: (name: string, until: string) => `${name} was enabled. Access ends ${until}.`,
  },
  remove: {
    title: (name: string) => `Delete ${name} for good`,
    type: (name: string) => `Type ${name} to delete this user`,
    wrong: (name: string) => `This is not the name. Type ${name}.`,
    submit: "Delete for good",
    busy: "Deleting …",
    done: (name: string) => `${name} was deleted.`,
  },
  edit: {
    title: (name: string) => `Edit ${name}`,
    email: "E-mail",
    emailHint: "Codes for logging in are mailed there.",
    emailWrong: "Give one address, such as name@example.org.",
    fullName: "Name",
    supervisor: "Supervisor",
    sponsor: "Sponsor's e-mail",
    sponsorHint:
      "Who answers for them; empty for nobody, or their company's sponsor. Whoever did before can no longer end the access.",
    purpose: "Purpose",
    note: "Note",
    noteHint: "For colleagues: the user cannot read it.",
    submit: "Save",
    busy: "Saving …",
    done: (name: string) => `${name} was changed.`,
  },
  welcome: {
    untold: (name: string) => `${name} was not told of the account yet.`,
    open: "Send the welcome mail …",
    title: (name: string) => `Tell ${name} of the account`,
    will: (email: string) => `${email} gets the mail that says how to log in.`,
    submit: "Send the mail",
    busy: "Sending …",
    done: (name: string) => `${name} was told.`,
  },
  keys: {
    title: "SSH keys",
    none: (name: string) => `${name} has no key, and cannot log in to the host.`,
    name: "Name",
    key: "Key",
    kind: (type: string, bits: number) => `${type}, ${number(bits)} bits`,
    added: "Added",
    used: "Last used",
    neverUsed: "not known",
    model: (subject: string, aaguid: string) => `Make proven: ${subject}, AAGUID ${aaguid}`,
    from: (address: string) => `from ${address}`,
    action: "Change",
    remove: "Revoke …",
    removeOf: (name: string) => `Revoke … ${name}`,
    removeTitle: (name: string) => `Revoke the key ${name}`,
    stops: "The key stops working at once.",
    sessions: "SSH sessions that were opened with it end.",
    last: (name: string) => `It is the last one: ${name} cannot log in to the host until they add another.`,
    others: "Other keys keep working.",
    mail: (email: string) => `${email} gets a mail.`,
    submit: "Revoke",
    busy: "Revoking …",
    removed: (name: string) => `The key ${name} was revoked.`,
  },
  sessions: {
    title: "Open SSH sessions",
    none: "Nobody is logged in to the host with this account.",
    since: "Since",
    from: "From",
    key: "Key",
    unknown: "not known",
    action: "Change",
    refresh: "Look again",
    refreshing: "Looking …",
    hint: "What the host says now.",
    end: "End …",
    endOf: (from: string) => (from === "" ? "End … the session" : `End … the session from ${from}`),
    endTitle: (from: string) => (from === "" ? "End the session" : `End the session from ${from}`),
    ends: "The connection is closed, and what runs in it ends.",
    again: (name: string) => `${name} can log in again. To prevent that, revoke the key or disable the user.`,
    submit: "End the session",
    busy: "Ending …",
    ended: (from: string) => (from === "" ? "The session was ended." : `The session from ${from} was ended.`),
  },
  signOut: {
    open: "Sign out …",
    title: (name: string) => `Sign ${name} out`,
    ends: "Every session with this service ends, in all browsers, and a login code that was sent is void. SSH sessions go on.",
    again: (name: string) => `${name} can log in again. To prevent that, disable the user.`,
    notAgain: (name: string) => `${name} has no access now, and cannot log in again.`,
    submit: "Sign out",
    busy: "Signing out …",
    done: (name: string, sessions: number) =>
      sessions === 0 ? `${name} had no open session.` : `${count(sessions, "session", "sessions")} of ${name} ended.`,
  },
  trail: {
    title: "What was recorded",
    none: "The audit log has nothing about this user.",
    all: (total: number) => (total === 1 ? "Open it in the audit log" : `All ${number(total)} in the audit log`),
  },
};

export const userTexts = inLanguage({ en });
