/** Keys that were found in an adopted account. */

import { inLanguage } from "../language.ts";

const en = {
  title: "Keys that were found",
  lead: (name: string) => `They opened the account before it became ${name}'s. None counts until you confirm it.`,
  key: "Key",
  limited: (options: string) => `limited by ${options}`,
  comment: "Comment",
  nothing: "none",
  place: "Found in",
  unknown: "not known",
  action: "Decide",
  open: { confirm: "Confirm …", dismiss: "Dismiss …" },
  openOf: {
    confirm: (fingerprint: string) => `Confirm … ${fingerprint}`,
    dismiss: (fingerprint: string) => `Dismiss … ${fingerprint}`,
  },
  will: {
    opens: (name: string) => `Whoever has the private key can log in as ${name} at once.`,
    unlimited: (options: string) => `What limited it in its file is not kept: ${options}`,
    mail: (email: string) => `${email} gets a mail.`,
    stays: "From now on the account cannot be given back to what it was.",
    never: "The key does not count, and cannot be confirmed later.",
    upload: (name: string) => `${name} can still upload it.`,
  },
  confirm: {
    title: (fingerprint: string) => `Confirm the key ${fingerprint}`,
    submit: "Confirm",
    busy: "Confirming …",
    done: (fingerprint: string) => `The key ${fingerprint} was confirmed.`,
  },
  dismiss: {
    title: (fingerprint: string) => `Dismiss the key ${fingerprint}`,
    submit: "Dismiss",
    busy: "Dismissing …",
    done: (fingerprint: string) => `The key ${fingerprint} was dismissed.`,
  },
};

export const foundKeyTexts = inLanguage({ en });
