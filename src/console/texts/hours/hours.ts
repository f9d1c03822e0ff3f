/** When access is open: the hours of the week, typed and painted; a user's start, and whom they ask. */

import { count, inLanguage } from "../language.ts";

const en = {
  label: "Hours of the week",
  hint: "Such as mon-fri 08:00-18:00 Europe/Berlin. Empty: at any hour.",
  paint: "Paint the week",
  keys: "One cell is an hour. Arrow keys move, the space bar paints or wipes, and with Shift the arrows go on.",
  grid: "The week, by hours",
  hour: "Hour",
  days: {
    mon: "Monday",
    tue: "Tuesday",
    wed: "Wednesday",
    thu: "Thursday",
    fri: "Friday",
    sat: "Saturday",
    sun: "Sunday",
  },
  short: { mon: "Mon", tue: "Tue", wed: "Wed", thu: "Thu", fri: "Fri", sat: "Sat", sun: "Sun" },
  cell: (day: string, from: string, to: string) => `${day}, ${from} to ${to}`,
  none: "Nothing is painted. Paint an hour, or empty the text for any hour.",
  always: "Nothing is painted: access at any hour.",
  zone: (zone: string) => `Hours of ${zone}.`,
  kept: (text: string) => `Not on the hour, and kept as it is: ${text}`,
  anyHour: "at any hour",
  of: (name: string) => `Hours of ${name}`,
  change: { submit: "Save", busy: "Saving …" },
};

export const hoursTexts = inLanguage({ en });

const user = {
  open: "Hours …",
  title: (name: string) => `When ${name} has access`,
  submit: "Save",
  busy: "Saving …",
  done: (name: string) => `The access times of ${name} were changed.`,
  more: "Start, hours, and access on request",
  start: "Access begins",
  startHint: (zone: string) => `Until then no key lets them in. Empty: at once. In your time zone, ${zone}.`,
  torn: "Complete the date and the time, or empty them.",
  end: "Or until",
  endHint: (zone: string) => `Instead of days. In your time zone, ${zone}.`,
  both: "Give days or a date, not both.",
  ends: "At the end of the hours",
  endsBy: {
    sessions: "everything ends that runs in the account",
    logins: "what is open goes on until the end of access",
  },
  ask: "Access on request",
  askBy: {
    none: "not needed",
    self: "a login here opens it",
    sponsor: "their sponsor lets them in",
    review: "an administrator lets them in",
  },
  askHint: "With it, no key lets them in until they ask, each time.",
  most: "For how many hours at most",
  groups: "Only hosts of these groups",
  groupsHint: "Names of groups of hosts, with commas. Empty: all their hosts.",
  mostWrong: (most: number) => `Give a whole number of hours from 1 to ${most}.`,
  now: {
    label: "Access now",
    open: "open",
    not_yet: "not begun",
    outside_hours: "outside the hours",
    on_request: "not open: they have to ask",
    closed: "none",
  },
  until: "until",
  starts: "Access begins",
  hours: "Hours of the week",
  asked: (by: string, hours: number, groups: readonly string[] = []) =>
    `${by}, for ${count(hours, "hour", "hours")} at most${groups.length === 0 ? "" : `, on hosts of ${groups.join(", ")}`}`,
  endAccess: {
    open: "End access on request …",
    title: (name: string) => `End the access of ${name} for now`,
    text: "What is open on request is shut, its sessions end, and a request that waits is withdrawn. They stay active, and can ask again.",
    submit: "End it",
    busy: "Ending …",
    done: (name: string) => `The access of ${name} on request was ended.`,
  },
};

export const userHoursTexts = inLanguage({ en: user });
