/** Texts of the pages of an external user. */

import { count, inLanguage } from "../language.ts";
import { connectTexts } from "./connect.ts";
import { keyTexts } from "./keys.ts";
import { trailTexts } from "./trail.ts";

const en = {
  keys: keyTexts,
  connect: connectTexts,
  trail: trailTexts,
  more: "Show all of it",
  standing: {
    disabled: "Your account is disabled",
    expired: "Your access has expired",
    ask: "Whom to ask:",
    overview: {
      disabled: "Only an administrator can open it again. You can still read these pages, and rename and revoke keys.",
      expired: "You can still read these pages, rename and revoke keys, and ask for more time below.",
    },
    keys: {
      disabled: "You can see, rename and revoke your keys, but not add any.",
      expired: "You can see, rename and revoke your keys, but not add any. They work again if your access is extended.",
    },
    connect: {
      disabled: "The host refuses you until an administrator opens the account again.",
      expired: "The host refuses you until your access is extended. You can ask for that on the overview.",
    },
    notMe: {
      disabled: "It is shut already.",
      expired: "No key opens it now. If you shut it, it stays shut even if your access is extended.",
    },
    trail: {
      disabled: "You can still read what happened here.",
      expired: "You can still read what happened here.",
    },
  },
  overview: {
    title: "Your access",
    soon: "ends soon",
    ends: (words: string) => `Your access ends ${words}`,
    ended: (words: string) => `Your access ended ${words}`,
    disabled: (words: string) => `Your account was disabled ${words}`,
    what: {
      expiry: "From then on your keys are refused, and the sessions that are open end.",
      expired: "Its time was up. Your keys are refused, and no session is open.",
      disabled: "It was shut before its time. Your keys are refused, and no session is open.",
    },
    removed: "After that, the account is deleted with everything in its home directory:",
    contact: "Whom to ask:",
    first: {
      title: "One step is left: add your first key",
      text: "You log in to the host with an SSH key. Without one nobody can connect to your account, you included.",
      link: "Add your first key",
    },
    connect: {
      title: "Connect",
      label: "Command that connects to the host",
      others: (host: string, others: number) =>
        `That is ${host}. You also have an account on ${count(others, "other host", "other hosts")}: Connect has the command for each.`,
      none: "This works once you have added a key:",
      shut: "The host refuses this at present:",
      more: "Other ways to connect, and the host's fingerprints",
    },
    keys: {
      title: "Keys",
      count: (keys: number) => `${count(keys, "key opens", "keys open")} your account.`,
      idle: (keys: number) => `You have ${count(keys, "key", "keys")}. At present none opens your account.`,
      none: "No key opens your account.",
      link: "See and change your keys",
    },
    account: {
      title: "Your account",
      username: "Username",
      hostAccount: "Account on the host",
      email: "E-mail",
      supervisor: "Supervisor",
      purpose: "Purpose",
      created: "Created",
      change: "Is something wrong here? Only an administrator can change it.",
    },
  },
  time: {
    title: "More time",
    summary: "Ask for more time",
    intro: "An administrator decides, and you are told by e-mail.",
    days: "Days",
    daysHint:
      "How many more, from 1 to 365. They are counted from the end of the access, or from now if that has passed.",
    daysFault: "This must be a whole number from 1 to 365.",
    reason: "Reason",
    reasonHint: "What is still to be done. The administrators read it.",
    reasonFault: "Say in a few words why more time is needed.",
    send: "Send the request",
    sending: "Sending …",
    sent: "Your request was sent. An administrator decides, and you are told by e-mail.",
    pendingTitle: "Your request is waiting for a decision",
    pending: (days: number, when: string) => `You asked for ${count(days, "more day", "more days")} on ${when}.`,
    approvedTitle: "Your request was approved",
    rejectedTitle: "Your request was rejected",
    reviewed: (days: number, when: string) =>
      `It was for ${count(days, "more day", "more days")}, and was decided on ${when}.`,
    answer: "The answer:",
    withdraw: {
      open: "Withdraw it …",
      title: "Withdraw your request for more time?",
      text: "Nobody decides about it any more, and your access ends as it would have. You can ask again.",
      submit: "Withdraw it",
      busy: "Withdrawing …",
      done: "Your request is withdrawn.",
    },
    disabled: "A disabled account cannot be extended from here. Ask for it to be opened again first.",
    tooLate: "It is too late to ask: the account is about to be deleted. Apply for access again if you need it.",
  },
  notMe: {
    title: "This was not me",
    lead: "If somebody else may have used your account, your mailbox or one of your keys, shut the account now, and find out later.",
    reasons: {
      title: "Signs of it",
      list: [
        "A mail tells of a login, a key or a change that you know nothing of.",
        "Your activity shows something that you did not do.",
        "A device that holds one of your keys was lost or stolen.",
      ],
      activity: "Look at your activity",
      oneKey: "Only one key is lost? Revoking that key is enough, and you keep your access.",
      keys: "Go to your keys",
    },
    effects: {
      title: "What shutting the account does",
      list: (account: string) => [
        `At once, no key opens ${account} on the host any more, and every session ends with all that runs in it.`,
        "You are logged out of this service, in every browser.",
        "The administrators are told by e-mail, and so are you.",
        "Nothing is deleted: your keys and files stay as they are.",
        "You cannot undo it. Only an administrator opens the account again.",
      ],
    },
    open: "Shut my account …",
    confirmTitle: "Shut your account now?",
    confirm: (account: string) =>
      `All sessions of ${account} end now, your own too. Only an administrator can open the account again.`,
    submit: "Yes, shut my account now",
    busy: "Shutting your account …",
    already: {
      title: "Your account is shut already",
      text: "Nobody can connect to it, and only an administrator can open it again. There is nothing more to do here; tell the administrators what you noticed.",
    },
    done: {
      title: "Your account is shut",
      first: "No key opens it any more, its sessions have ended, and you are logged out.",
      nextTitle: "What happens now",
      next: [
        "The administrators have been told by e-mail. They look at what happened and decide when to open the account again.",
        "Tell them what you noticed, and when: that helps most.",
        "If your mailbox may be in other hands, change its password before anything else: the login codes go there.",
        "If a device was lost, do not use the keys that were on it again, anywhere.",
      ],
    },
    partly: {
      title: "Your account could not be shut completely",
      text: "The service goes on trying by itself. Tell the administrators at once; do not wait for their answer to a mail.",
    },
  },
};

export const userTexts = inLanguage({ en });
