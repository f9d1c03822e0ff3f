/** The pages about hosts. */

import { count, inLanguage, number } from "../language.ts";

/** In which state a host is, as people see it: `ended` is one whose lease has. */
export type HostState = "active" | "locked" | "retiring" | "ended";

const state: Readonly<Record<HostState, string>> = {
  active: "open",
  locked: "locked",
  retiring: "retiring",
  ended: "shut: lease ended",
};

/** The name of each kind of problem, and its remedy. */
export interface ProblemWords {
  readonly name: string;
  readonly advice: string;
}

const en = {
  title: "Hosts",
  lead: "Each host has the accounts of the users and groups that it was given. What is taken away is true there once it has said so, or once its lease is over.",
  alone: "So far there is only the service's own host. Others join with one command each.",
  groups: "Groups of hosts",
  caption: "Hosts, the service's own first",
  state,
  own: "the service's own",
  columns: {
    name: "Name",
    state: "State",
    groups: "Groups",
    lease: "Shuts by itself",
    problems: "Problems",
    version: "Version and clock",
    seen: "Last seen",
  },
  found: (total: number, isAll: boolean) =>
    isAll
      ? `There ${total === 1 ? "is one host" : `are ${number(total)} hosts`}.`
      : `${count(total, "host", "hosts")} match${total === 1 ? "es" : ""}.`,
  noGroup: "none",
  noProblem: "none",
  problems: (amount: number) => count(amount, "problem", "problems"),
  noLease: "never: no lease",
  never: "never",
  clock: (milliseconds: number) => {
    if (Math.abs(milliseconds) < 1000) return "clock right";
    const seconds = Math.round(Math.abs(milliseconds) / 1000);
    const by = seconds < 120 ? `${number(seconds)} s` : `${number(Math.round(seconds / 60))} min`;
    return `clock ${by} ${milliseconds > 0 ? "fast" : "slow"}`;
  },
  filters: {
    search: "Name",
    searchHint: "A part of it.",
    group: "Group",
    anyGroup: "Any",
    status: "State",
    anyStatus: "Any",
  },
  empty: "No host matches.",
  all: "All hosts",
  add: {
    open: "Add a host",
    title: "Add a host",
    lead: "This makes a line that you run on the new host, as root. It works once, for 30 minutes.",
    name: "Name",
    nameHint: "What the host is to be called here, such as web1.",
    nameWrong:
      "1 to 63 letters a to z, digits, dots, dashes and underscores, not only digits; a letter or digit at both ends.",
    group: "Group",
    noGroup: "no group: nobody has an account there yet",
    groupHint: (users: number) =>
      users === 0
        ? "Nobody has this group at present."
        : `${count(users, "user has this group and gets", "users have this group and get")} an account there as soon as it joins.`,
    noGroupHint: "Hosts are given later: to a group, or to single users.",
    submit: "Make the line",
    busy: "Making the line …",
  },
  line: {
    title: (name: string) => `Run this on ${name}, as root. It is shown only here, only once.`,
    label: (name: string) => `Command that joins ${name}`,
    until: (time: string) => `It works once, until ${time}.`,
    secret: "Whoever has it can add a host, which then gets the accounts of its group: keep it to yourself.",
    needs: "uam must be installed there, and the host must reach this service by HTTPS.",
    waiting: (name: string) => `Waiting for ${name} to join …`,
    joined: (name: string) => `${name} has joined.`,
    open: (name: string) => `Look at ${name}`,
    over: "The line is no longer valid. Make another one.",
    close: "Hide the line",
    closed: "The line is no longer shown.",
  },
  kinds: {
    conflict: {
      name: "taken by somebody else",
      advice:
        "Name or uid is somebody else's there, so the account is not touched. Give the other one another name or uid.",
    },
    missing: { name: "account gone", advice: "Somebody removed it there. Nobody gets in by it." },
    refused: { name: "could not be done", advice: "It is tried again by itself. Correct on the host what is named." },
    drift: { name: "differed, was repaired", advice: "Find out who changed it. It is shown for a day." },
    finding: { name: "found by uam doctor", advice: "Run uam doctor on the host; it says what to do." },
    silent: { name: "not heard of", advice: "Run uam agent status on the host." },
    lease_ended: {
      name: "lease ended",
      advice: "Nobody can log in there until it is back. Run uam agent status on the host.",
    },
    diverged: {
      name: "knows another history",
      advice: "It opens nothing. Look through users and keys, then run uam fleet accept on the service's host.",
    },
    unknown: {
      name: "accounts that the database has lost",
      advice: "They are shut. uam fleet accept on the service's host says which they are, asks, and has them removed.",
    },
    clock: { name: "clock is wrong", advice: "Set the clock: accounts expire at another time there." },
    profile: { name: "profile not held", advice: "Correct on the host what is named." },
    no_lease: { name: "no lease", advice: "Give the host or its group a lease: cut off, it stays open for ever." },
    locked: {
      name: "locked",
      advice: "If it was locked because its key was copied, find the copy before you unlock it.",
    },
  },
};

export const hostTexts = inLanguage({ en });
