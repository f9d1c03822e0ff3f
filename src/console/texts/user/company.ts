/** The company that a manager looks after. */

import { count, inLanguage, number } from "../language.ts";

const en = {
  title: "Your company",
  link: "See its people, end access, apply for a colleague",
  people: (users: number, most: number | null) =>
    most === null ? count(users, "person", "people") : `${number(users)} of ${count(most, "person", "people")}.`,
  contract: "The contract ends",
  refused: "You manage no company, or your own access has ended. Administrators know more.",
  manager: "manager",
  columns: {
    name: "Name",
    status: "Status",
    ends: "Access ends",
    login: "Last login here",
    key: "Last SSH login",
    act: "Change",
  },
  never: "never",
  unknown: "not known",
  end: {
    open: "End …",
    of: (name: string) => `End … ${name}`,
    title: (name: string) => `End the access of ${name}`,
    text: (name: string) =>
      `At once ${name} can no longer log in, what they have running ends, and they are told by mail. Only an administrator gives access back.`,
    self: "This is your own account: you can do nothing here afterwards.",
    submit: "End the access",
    busy: "Ending …",
    done: (name: string) => `${name} has no access any more.`,
  },
  time: {
    open: "More time …",
    of: (name: string) => `More time … ${name}`,
    title: (name: string) => `Ask for more time for ${name}`,
  },
  apply: {
    open: "Apply for a colleague …",
    title: "Apply for a colleague",
    text: "An administrator decides, and your colleague is told by e-mail.",
    username: "Username",
    usernameWrong: "1 to 28 characters: a–z, 0–9, _ and -. The first and the last are a letter or digit.",
    email: "E-mail",
    emailWrong: "Give one address, such as name@example.org.",
    fullName: "Name",
    purpose: "Purpose",
    purposeWrong: "Say in a few words what they will do.",
    hours: "Hours",
    hoursHint: "When they need access, if not always.",
    submit: "Send the application",
    busy: "Sending …",
    done: (name: string) => `Your application for ${name} was sent. An administrator decides.`,
  },
};

export const ownCompanyTexts = inLanguage({ en });
