/** Those who answer for users. */

import { count, inLanguage } from "../language.ts";

const en = {
  title: "Sponsors",
  lead: "Who answers for users: by mail, without an account here.",
  empty: "Nobody answers for a user.",
  columns: { email: "E-mail", users: "Users", answer: "Last answer", mail: "Mail", act: "Change" },
  never: "none known",
  lost: "refused",
  reached: "ok",
  move: {
    open: "Move …",
    openOf: (email: string) => `Move … ${email}`,
    title: (email: string) => `Give all people of ${email} to somebody else`,
    to: "E-mail of who answers from now on",
    submit: "Move them",
    busy: "Moving …",
    done: (to: string, moved: number) => `${to} answers for ${count(moved, "more user", "more users")} now.`,
  },
};

export const sponsorTexts = inLanguage({ en });
