/** The pages about groups of hosts. */

import { count, inLanguage } from "../language.ts";

const en = {
  title: "Groups of hosts",
  one: "Group of hosts",
  lead: "Users are given groups; they have an account on each host of a group that they have.",
  caption: "Groups of hosts, by name",
  hosts: "Hosts",
  columns: { name: "Name", hosts: "Hosts", users: "Users", lease: "Lease", fresh: "New users" },
  noLease: "none: stay open for ever",
  usual: "not set",
  fresh: "get it",
  empty: "There are no groups.",
  gone: { title: (id: number) => `There is no group with the number ${id}`, text: "It was deleted, or never existed." },
  make: {
    open: "Make a group",
    title: "Make a group",
    name: "Name",
    nameWrong:
      "1 to 63 letters a to z, digits, dots, dashes and underscores, not only digits; a letter or digit at both ends.",
    effect: "No user has it yet, so no account changes.",
    submit: "Make the group",
    busy: "Making the group …",
    done: (name: string) => `The group ${name} is made.`,
  },
  lease: {
    label: "Lease of its hosts",
    hint: "From 5m to 7d, such as 30m or 4h; none for without end. Empty: not set by this group.",
    wrong: "Type a length from 5m to 7d, such as 30m, 4h or 1d, or none, or nothing.",
  },
  hours: {
    label: "Hours of the week",
    none: "at any hour",
    hint: "Within which accounts on its hosts are open, such as mon-fri 18:00-24:00 Europe/Berlin. Empty: at any hour.",
  },
  facts: {
    label: "Facts",
    users: "Who has it",
    usersText: (users: number) => (users === 0 ? "no user" : count(users, "user", "users")),
    fresh: "New users",
    freshYes: "get this group",
    freshNo: "do not get it by themselves",
    lease: "Lease of its hosts",
    usual: "not set here: each host's own, or that of its other groups",
    created: "Made",
  },
  actions: { add: "Add hosts …", change: "Change …", remove: "Delete …" },
  members: {
    title: "Its hosts",
    caption: "Hosts of this group",
    none: "The group has no host.",
    name: "Name",
    state: "State",
    lease: "Shuts by itself",
    act: "Change",
    remove: "Take out …",
    removeOf: (name: string) => `Take out … ${name}`,
  },
  add: {
    title: (group: string) => `Add hosts to ${group}`,
    hosts: "Hosts",
    hint: "Their names, one a line.",
    submit: "Add",
    busy: "Adding …",
    done: (group: string, hosts: number) => `${count(hosts, "host was", "hosts were")} added to ${group}.`,
  },
  takeOut: {
    title: (host: string, group: string) => `Take ${host} out of ${group}`,
    submit: "Take it out",
    busy: "Taking it out …",
    done: (host: string, group: string) => `${host} is no longer in ${group}.`,
  },
  change: {
    title: (group: string) => `Change ${group}`,
    name: "Name",
    fresh: "New users get this group, instead of the one that they get now",
    submit: "Save",
    busy: "Saving …",
    done: (group: string) => `The group ${group} was changed.`,
  },
  remove: {
    title: (group: string) => `Delete ${group}`,
    submit: "Delete the group",
    busy: "Deleting …",
    done: (group: string) => `The group ${group} was deleted.`,
    back: "All groups",
  },
};

export const groupTexts = inLanguage({ en });
