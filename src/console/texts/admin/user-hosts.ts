/** A user's hosts, as administrators see them. */

import { inLanguage } from "../language.ts";

const en = {
  title: "Hosts",
  none: (name: string) => `${name} has no host.`,
  host: "Host",
  by: "Given by",
  byName: "name",
  byGroup: (group: string) => `the group ${group}`,
  state: "State",
  states: { applied: "applied", pending: "pending", problem: "problem" },
  removing: "being removed",
  since: "Since",
  until: (time: string) => `Cut off, it lets the user in until ${time} at the latest.`,
  forEver: "It has no lease: cut off, it lets the user in for ever.",
  change: "Change hosts …",
  dialog: {
    taken: (sentence: string) => `What was taken away: ${sentence}`,
    title: (name: string) => `Hosts of ${name}`,
    groups: "Groups",
    hosts: "Hosts by name",
    hostsHint: "One a line, besides those of the groups.",
    nothing: "Give at least one host or group. To take all access away, disable or delete the user.",
    submit: "Save",
    busy: "Saving …",
    done: (name: string, pending: number) =>
      pending === 0
        ? `The hosts of ${name} were changed.`
        : `The hosts of ${name} were changed. What is pending is shown below.`,
  },
};

export const userHostTexts = inLanguage({ en });
