/** From where keys may be used, for administrators and for the keys' owners. */

import { inLanguage } from "./language.ts";

const en = {
  from: "SSH from",
  anywhere: "anywhere",
  button: "Networks …",
  /** In front of a key's own networks. */
  only: "only from",
  field: "Networks",
  submit: "Save the networks",
  busy: "Saving …",
  effects: "What will happen",
  stays: "Nothing changes.",
  elsewhere: "From anywhere else, the host refuses at once, and SSH sessions from there end.",
  user: {
    title: (name: string) => `From where ${name} may log in by SSH`,
    hint: "One on each line, such as 192.0.2.0/24, 2001:db8::/32 or a single address. Empty: from anywhere.",
    lifted: "The keys may be used from anywhere.",
    keys: "Keys with networks of their own keep what both have in common; where that is nothing, the key stops working.",
    done: (name: string) => `The networks of ${name} were changed.`,
  },
  key: {
    button: "Networks",
    label: (name: string) => `Networks of ${name}`,
    title: (name: string) => `From where the key ${name} may be used`,
    hint: "One on each line, such as 192.0.2.0/24, 2001:db8::/32 or a single address. Empty: from wherever your account may be used.",
    lifted: "The key may be used from wherever your account may be used.",
    careful: "If your own address is not among them, or changes, this key no longer lets you in from there.",
    done: (name: string) => `The networks of the key ${name} were changed.`,
  },
  account: "Your account may be used only from these networks; a key's own have to lie within them:",
};

export const networkTexts = inLanguage({ en });
