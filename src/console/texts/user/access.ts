/** Texts about access on request, on a user's first page. */

import { count, inLanguage } from "../language.ts";

const en = {
  title: "Access on request",
  open: (words: string) => `Open; it ends ${words}`,
  until: "Your sessions end then:",
  end: "End it now",
  ending: "Ending …",
  ended: "Your access is ended.",
  opened: "Your access is open.",
  rules: {
    self: "No key opens your account until you ask. It opens at once if you have just logged in here.",
    sponsor: "No key opens your account until you ask, and whoever answers for you lets you in. They get an e-mail.",
    review: "No key opens your account until you ask, and an administrator lets you in. They get an e-mail.",
  },
  outside: (when: string) => `You cannot ask now: it is outside your hours. They begin on ${when}.`,
  over: "You cannot ask any more: your hours are over.",
  waiting: "You have asked, and wait for a decision",
  asked: (hours: number, when: string, hosts: readonly string[]) =>
    `For ${count(hours, "hour", "hours")}${hosts.length === 0 ? "" : ` to ${hosts.join(", ")}`}, on ${when}. The answer comes by e-mail.`,
  hosts: "On which hosts",
  openHost: (name: string, until: string) => `${name}, open until ${until}`,
  hostsFault: "Choose a host.",
  withdraw: "Withdraw it",
  void: (when: string) => `Without one it is void on ${when}.`,
  rejected: "Your last request was refused",
  unanswered: "Nobody answered your last request",
  again: "It is void. Ask again if you still need access.",
  hours: "For how many hours",
  hoursHint: (most: number) => `At most ${count(most, "hour", "hours")}, from the moment at which it is allowed.`,
  hoursFault: (most: number) => `Give a whole number of hours from 1 to ${most}.`,
  reason: "What for",
  reasonFault: "Say what you need it for.",
  ask: "Ask for access",
  more: "Ask for more hours",
  asking: "Asking …",
  login: "Log in once more",
};

export const accessTexts = inLanguage({ en });
