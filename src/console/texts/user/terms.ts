/** The terms of use, for those who accept them. */

import { inLanguage } from "../language.ts";

const en = {
  title: "Terms of use",
  text: "Text of the terms",
  lead: "Please read and accept them. Until then no first key can be added; keys that you have go on working.",
  accept: "I accept these terms",
  busy: "Accepting …",
  done: "You accepted the terms of use.",
  accepted: (date: string) => `You accepted them on ${date}.`,
  wait: "The terms of use wait for you",
  read: "Read and accept them",
};

export const termsTexts = inLanguage({ en });
