/** Companies: their list, and one of them. */

import { count, inLanguage, number } from "../language.ts";

const en = {
  title: "Companies",
  one: "Company",
  all: "All companies",
  lead: "External users come from companies. What a company allows, none of its users goes beyond.",
  search: "Search",
  found: (total: number) => count(total, "company", "companies"),
  empty: "There is no such company.",
  columns: { status: "Status", users: "Users" },
  users: (users: number, most: number | null) =>
    most === null ? count(users, "user", "users") : `${number(users)} of ${count(most, "user", "users")}`,
  statuses: { active: "active", ending: "ending", ended: "ended" },
  /** What can be changed of a company: its name, what it says without a value, and how it is typed. */
  fields: {
    name: { label: "Name", none: "", hint: undefined },
    contract_end: {
      label: "Contract ends",
      none: "without end",
      hint: "In your time zone. No access goes on after it. Empty: without end.",
    },
    max_users: { label: "Most users", none: "any number", hint: "Whatever their status. Empty: any number." },
    max_ttl_days: {
      label: "Most days of access",
      none: "any number",
      hint: "An end lies at most so many days ahead when it is set. Empty: any number.",
    },
    source_networks: {
      label: "Networks",
      none: "from anywhere",
      hint: "One on each line, such as 192.0.2.0/24. Empty: from anywhere.",
    },
    host_groups: {
      label: "Groups of hosts",
      none: "any hosts",
      hint: "Their names, one on each line. Empty: any hosts.",
    },
    hours: {
      label: "Hours of the week",
      none: "at any hour",
      hint: "Within which its users have access, such as mon-fri 08:00-18:00 Europe/Berlin. Empty: at any hour.",
    },
    sponsor_email: {
      label: "Sponsor",
      none: "nobody",
      hint: "The e-mail of who answers for its users. Empty: nobody.",
    },
  },
  /** The company of a user, and of those who are listed. */
  choice: {
    hint: "Type a part of its name, and choose. Empty: none.",
    filterHint: "Type a part of its name, and choose.",
    unknown: "No company has that in its name.",
    several: (total: number) => `${number(total)} companies have that in their names: choose one.`,
    only: (name: string) => `Only ${name} has that in its name. Enter chooses it.`,
    completed: (name: string) => `Only ${name} has that in its name, and stands here now. If it is meant, go on.`,
    manager: "Manager: sees and ends the users of the company",
    isManager: "manager",
  },
  wrong: "Complete or correct this.",
  gone: {
    title: (id: number) => `There is no company with the number ${id}`,
    text: "It was deleted, or never existed.",
  },
  make: { open: "Add a company …", title: "Add a company", submit: "Add the company", busy: "Adding …" },
  change: {
    open: "Change …",
    of: (field: string) => `Change … ${field}`,
    title: (company: string, field: string) => `${company}: ${field}`,
    submit: "Save",
    busy: "Saving …",
    done: (company: string) => `${company} was changed.`,
  },
  narrowing: "What users lose by the last change is still being taken away.",
  end: {
    open: "End …",
    title: (company: string) => `End the access of everybody of ${company}`,
    submit: "End all access",
    busy: "Ending …",
    done: (company: string) => `${company} is ended, or being ended: see below.`,
  },
  progress: {
    ending: "Access is being ended",
    ended: "Nobody has access",
    closed: (closed: number, total: number) => `${number(closed)} of ${count(total, "user", "users")} without access.`,
    owed: (owed: number) => `Not completely taken away from ${count(owed, "user", "users")}; the service goes on.`,
    refused: "Nobody is created, enabled or extended until the company is resumed.",
  },
  resume: {
    open: "Resume …",
    title: (company: string) => `Resume ${company}`,
    text: "Its users can be given access again. Nobody has any by that: enable them one by one.",
    submit: "Resume",
    busy: "Resuming …",
    done: (company: string) => `${company} is resumed; nobody has access by that.`,
  },
  remove: {
    open: "Delete …",
    title: (company: string) => `Delete ${company}`,
    text: "Only a company without users can be deleted. What was recorded is kept.",
    submit: "Delete the company",
    busy: "Deleting …",
  },
};

export const companyTexts = inLanguage({ en });
