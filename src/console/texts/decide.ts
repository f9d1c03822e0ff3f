/** Texts of the page that asks a sponsor. */

import { count, inLanguage } from "./language.ts";

const ENDS = "Keys stop working and sessions are closed at once. An administrator can give the access back.";

const en = {
  title: "We need your answer",
  /** Once everything on the page is answered, before a later look, too. */
  done: {
    title: "You have answered",
    lead: "Thank you, that is all. If an answer is wrong, ask the administrators.",
    here: "That is all: you can close this page.",
  },
  none: {
    title: "This link is not complete",
    text: "Open the whole link from the mail. If that does not help, copy it into the address bar.",
  },
  opened: "Nothing is decided until you press a button.",
  unchecked: "Nothing of this was checked: it is what the applicant typed.",
  reason: "Reason",
  addReason: "Add a reason",
  reasonHint: "The administrators see it.",
  sending: "Sending …",
  /** The buttons of each kind of question; one without an answer sends nothing. */
  buttons: {
    vouch: [
      { answer: "vouch", label: (name: string) => `I answer for ${name}`, kind: "primary" },
      { answer: "decline", label: (name: string) => `I do not answer for ${name}`, kind: "plain" },
    ],
    end: [
      { answer: "end", label: (name: string) => `${name} is no longer with us: end the access`, kind: "danger" },
      { answer: "", label: () => "Leave it as it is", kind: "plain" },
    ],
    access: [
      { answer: "allow", label: (name: string) => `Let ${name} in now`, kind: "primary" },
      { answer: "refuse", label: () => "Refuse it", kind: "plain" },
    ],
    review: [{ answer: "keep", label: (name: string) => `${name} still needs it`, kind: "primary" }],
  },
  /** What follows from the answers. */
  follows: {
    vouch: "An administrator then decides, and sees your answer.",
    end: ENDS,
    access: "",
    review: "",
  },
  /** Further answers, for reviews: behind a button of their own each, so that none is given by a thumb that slipped. */
  end: {
    open: "End the access …",
    follows: ENDS,
    send: (name: string) => `End the access of ${name} now`,
  },
  shorten: {
    open: "Only until a day …",
    day: "Last day",
    hint: (zone: string) => `The access ends when this day does (${zone}).`,
    none: "Choose a day.",
    send: (name: string) => `${name} needs it until then`,
  },
  left: "Nothing was sent, and nothing has changed. You can close this page.",
  /** What was answered, by the answer. */
  said: {
    vouch: (name: string) => `You answer for ${name}.`,
    decline: (name: string) => `You do not answer for ${name}.`,
    allow: (name: string) => `You allowed the access of ${name}: it is open.`,
    refuse: (name: string) => `You refused the access of ${name}.`,
    end: (name: string) => `You ended the access of ${name}.`,
    keep: (name: string) => `${name} keeps the access; its end does not change.`,
    shorten: (name: string) => `${name} keeps the access for a shorter time.`,
  } as Readonly<Record<string, (name: string) => string>>,
  saidOther: (name: string) => `You have answered about ${name}.`,
  until: "It ends",
  on: "Answered:",
  everywhere: "It is so on every host.",
  everywhereBy: "It is so on every host at the latest by",
  later: "A host has not confirmed it yet; the administrators see when it has.",
  more: (left: number) => `You are still asked about ${count(left, "person", "people")} on this page.`,
  /** Folds the evidence about somebody who was answered for. */
  known: "What was known",
  /** Folds what few decide by. */
  rest: "More that is known",
};

export const decideTexts = inLanguage({ en });
