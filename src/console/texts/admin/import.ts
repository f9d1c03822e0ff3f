/** Creating the users of a file. */

import { count, inLanguage, number } from "../language.ts";

const users = (total: number) => count(total, "user", "users");

const en = {
  open: "Import users",
  title: "Import users",
  lead: "Creates a user for each line of a CSV file. What is wrong with it is shown first.",
  columns:
    "The first line names the columns, as in username,email,full_name,ttl_days: username and email are needed; full_name, supervisor, sponsor_email, purpose, note, source_networks, starts_at, hours, hours_end, on_request, and expire_at (2027-03-31) or ttl_days may be there. What this service exports can be read, too.",
  file: "The file",
  choose: "Choose a file …",
  chosen: (name: string, bytes: number) => `${name}, ${number(Math.ceil(bytes / 1000))} kB`,
  remove: "Take it away",
  text: "Or paste the lines, the header first",
  textHint: "You can also drop the file here.",
  drop: "Let go to take this file.",
  empty: "Choose a file, or paste its lines.",
  tooLarge: (most: number) => `This is larger than ${number(most / 1024 / 1024)} MiB: split the file.`,
  unreadable: "The file cannot be read.",
  check: "Check it",
  checking: "Checking …",
  result: "What is in the file",
  found: (total: number) => `${count(total, "user is", "users are")} in the file.`,
  good: (good: number) => (good === 0 ? "Nobody can be created." : `${users(good)} can be created.`),
  existing: (lines: number) => `${count(lines, "user is", "users are")} there already, and not changed.`,
  faulty: (lines: number) => `${count(lines, "line has a fault", "lines have faults")}.`,
  ignored: "Columns that are not read:",
  faults: "What is wrong",
  left: "Lines that were left out",
  line: "Line",
  column: "Column",
  fault: "Fault",
  wholeLine: "all",
  more: (rest: number) => `And ${count(rest, "more", "more")}.`,
  who: (good: number) => `Who would be created: ${number(good)}`,
  username: "Username",
  email: "E-mail",
  ends: "Access ends",
  all: (good: number) => `Create ${users(good)} …`,
  onlyGood: (good: number) => `Create the ${good === 1 ? "good one" : `${number(good)} good ones`} …`,
  orCorrect: "Or correct the file, and check it again.",
  confirm: {
    title: (good: number) => `Create ${users(good)}`,
    mail: "Tell each of them by mail now",
    accounts: (good: number) =>
      `${count(good, "user is created, with an account", "users are created, each with an account")}.`,
    told: "Each of them gets a mail that says how to log in.",
    notTold: "Nobody is told yet. The list of users finds them by “Welcome mail: not sent yet”, and sends it.",
    leftOut: (lines: number) => `${count(lines, "line is", "lines are")} left out.`,
    submit: (good: number) => `Create ${users(good)}`,
    busy: "Creating … This can take minutes.",
    noAnswer:
      "No answer came. The service may still be creating users: look at the list of users, and check the file again. Those who are there already are left out then.",
  },
  done: (created: number) => `${count(created, "user was", "users were")} created.`,
  list: "Go to the list of users",
  pending: "Those who were not told yet",
};

export const importTexts = inLanguage({ en });
