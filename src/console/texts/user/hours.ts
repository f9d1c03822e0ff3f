/** When a user's access is open, on their first page. */

import { inLanguage } from "../language.ts";

const en = {
  title: "Your hours",
  until: "Open until",
  toTheEnd: "Open until your access ends.",
  states: {
    not_yet: "Your access has not begun: no key opens your account yet.",
    outside_hours: "It is outside your hours: no key opens your account now.",
    on_request: "It is within your hours: ask for access below.",
    closed: "No key opens your account.",
  },
  next: "Next:",
  today: (time: string) => `today ${time}`,
  on: (day: string, time: string) => `${day} ${time}`,
  here: (time: string) => `in your time zone ${time}`,
  calendar: "Calendar file with the next 60 days",
};

export const ownHoursTexts = inLanguage({ en });
