/** Texts common to all pages. */

import { inLanguage, number } from "./language.ts";

const en = {
  product: "User access",
  skip: "Skip to content",
  menu: "Pages",
  find: "Find",
  keys: "Keys",
  loading: "Loading …",
  stillLoading: "This takes longer than usual. Still loading …",
  retry: "Try again",
  cancel: "Cancel",
  close: "Close",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "Copying is not allowed here. Select the text and copy it yourself.",
  optional: "optional",
  dryRun: "Dry run: nothing on the service's own host is changed.",
  footer: {
    help: "Help:",
    zone: (zone: string) => `Times are in ${zone}.`,
    version: (version: string) => `uam ${version}`,
  },
  /** Whom to ask where the installation names nobody. */
  nobody: "the administrators, or whoever arranged your access",
  unsaved: {
    question: "Close this, and lose what you typed?",
    discard: "Discard it",
    goOn: "Keep typing",
  },
  typed: {
    tooLong: (most: number) => `At most ${number(most)} characters.`,
    direction: "It holds characters that change the direction of writing. Leave them out.",
    unreadable: "It holds characters that cannot be shown. Type it again.",
  },
  /** An end, in a zone that is not the reader's. */
  endOfDay: (date: string) => `${date}, end of the day in UTC`,
  logIn: "Log in",
  logOut: "Log out",
  loggingOut: "Logging out …",
  loggedInAs: (name: string) => `Logged in as ${name}`,
  showPassword: "Show password",
  none: "none",
  dash: "–",
  compact: "Compact rows",
  previous: "Previous page",
  next: "Next page",
  pages: "Pages of this list",
  range: (first: number, last: number, total: number) => `${number(first)} to ${number(last)} of ${number(total)}`,
  pastEnd: (total: number) => `This page is past the end: there are ${number(total)}.`,
  odd: {
    title: "The address has a filter that there is not. It does not count here.",
    possible: (values: readonly string[]) => `there are ${values.join(", ")}`,
    without: "Open the list without it",
  },
  showMore: "Show more",
  failure: {
    unknown: "This page met an error of its own. Reload it; if it stays, tell the administrators.",
    requestId: (id: string) => `If you ask for help, say this: request ${id}`,
    wait: (seconds: number) =>
      seconds < 120 ? `Try again in ${seconds} seconds.` : `Try again in ${Math.ceil(seconds / 60)} minutes.`,
  },
  /** In our own words, by the name that the service gives a refusal; what is not here is shown in the service's words. */
  reasons: {
    network:
      "The service does not answer. It may be restarting, or your connection is down. Nothing was lost here; try again.",
    "rate.limited": "Too many requests came from your address.",
    "service.busy": "The service is very busy.",
    "service.not_ready":
      "The service is starting or stopping, or its database does not answer. Nothing was lost here; try again.",
    "request.origin":
      "This page was opened at an address other than the service's own, so the service refused this. Use the address in your mail, or the one that the service prints when it starts (UAM_BASE_URL).",
    "login.wrong": "The name or the password is wrong.",
    "login.passkey_wrong": "The passkey was not accepted. It may have been removed here; try another one.",
    "login.passkey_only": "The password is right, but this service lets administrators in with a passkey only.",
    "login.factor_needed":
      "This service asks every administrator for a second factor. Set one up on the page Your login, then go on.",
    "login.locked": "There were too many wrong attempts, so this login is locked for a while.",
    "code.wrong": "The code is wrong, was used already, or is too old. Ask for another one.",
    "captcha.wrong": "The check that you are not a program failed or came too late. Try again.",
    "reset.wrong": "The link was used, is older than 30 minutes, or there is a newer one.",
    "application.limit": "So many applications wait for a decision that no more are taken at present.",
    "user.expired":
      "Access has ended already, so there is nothing to disable or enable. Delete the user if the account is to go now; extending gives access again.",
    "key.duplicate": "This key is already in use on this host. Use another one.",
  } as Readonly<Record<string, string>>,
  session: {
    endedTitle: "Your session has ended",
    ended: "It ran out, or it was ended elsewhere. Log in again; you will come back to this page.",
    neededTitle: "Please log in",
    needed: "This page needs a session. Log in; you will come back to it.",
    wrongKindTitle: "This page is not for you",
    wrongKind: (kind: "admin" | "user") =>
      kind === "admin"
        ? "It is for administrators."
        : "It is for external users; you are logged in as an administrator.",
    goBack: "Go to your own pages",
    factorTitle: "One step first",
  },
  insecure: {
    title: "This page was not opened over HTTPS",
    text: "Browsers keep a session only over HTTPS, or on the machine itself (localhost). Logging in would seem to work and then be forgotten. Open the address that begins with https://.",
  },
  newVersion: "The service was updated. Reload the page to go on.",
  reload: "Reload",
  nav: {
    account: "Your login",
    problems: (total: number) => (total === 1 ? "1 problem" : `${number(total)} problems`),
    waiting: (total: number) => (total === 1 ? "1 waits for a decision" : `${number(total)} wait for a decision`),
    user: { me: "Overview", keys: "Keys", connect: "Connect", trail: "Activity", notMe: "This was not me" },
    admin: {
      dashboard: "Dashboard",
      applications: "Applications",
      users: "Users",
      audit: "Audit log",
      access: "Past access",
      settings: "Settings",
      admins: "Administrators",
      webhooks: "Webhooks",
      tokens: "Tokens",
      hosts: "Hosts",
      reviews: "Reviews",
    },
    public: { home: "Start", apply: "Apply for access", login: "Log in" },
  },
  status: {
    active: "active",
    disabled: "disabled",
    expired: "expired",
    pending: "pending",
    approved: "approved",
    rejected: "rejected",
  },
};

export const common = inLanguage({ en });
