/** Whether a user can log in now; and their request for more time. */

import { count, inLanguage } from "../language.ts";

const en = {
  title: "Can they log in now?",
  yes: (name: string, restrictions: number) =>
    restrictions === 0 ? `Yes, ${name} can log in.` : `Yes, ${name} can log in. What is restricted:`,
  no: (name: string) => `No, ${name} cannot log in.`,
  remedy: (what: string) => `What to do: ${what}.`,
  refused: "Refused logins, in sshd's words",
  from: (address: string) => `from ${address}`,
  quoted: (words: string) => `“${words}”`,
  none: "None was found.",
  refresh: "Ask again",
  refreshing: "Asking …",
  hint: "Looks at what is stored, at the host, and at sshd's log. Nothing is changed.",
};

export const diagnosisTexts = inLanguage({ en });

const request = {
  title: (name: string, days: number) => `${name} asks for ${count(days, "more day", "more days")}`,
  ends: (present: string, approved: string) => `Access ends ${present}; if it is approved now, ${approved}.`,
  asked: "Asked",
  decide: "Decide it under Applications",
};

export const requestTexts = inLanguage({ en: request });
