/** Profiles: their page, and wherever one is chosen. */

import { count, inLanguage } from "../language.ts";

const en = {
  title: "Profiles",
  lead: "What accounts may do on the hosts: who has a profile may do what it says, and nothing else.",
  empty: "There is no profile: accounts may do what the hosts let any account do.",
  users: (users: number) => (users === 0 ? "No user has it." : `${count(users, "user has", "users have")} it.`),
  /** Where a user or a group of hosts gets one. */
  choice: {
    label: "Profile",
    none: "None: what the hosts let any account do",
    open: "Profile …",
    title: (name: string) => `Profile of ${name}`,
    submit: "Save",
    busy: "Saving …",
    done: (name: string, profile: string) =>
      `${name} has ${profile === "" ? "no profile" : `the profile ${profile}`} now.`,
  },
  /** On the page about a host. */
  held: {
    title: "Profiles on this host",
    name: "Profile",
    state: "State",
    states: { applied: "held", problem: "not held" },
  },
  make: {
    open: "Make a profile …",
    title: "Make a profile",
    name: "Name",
    nameHint: "1 to 24 letters a to z, digits and hyphens. It is never another.",
    kind: "Kind",
    kinds: { sftp: "files only", forward: "connections only", command: "one program", shell: "a shell" },
    nobody: "Nobody has it yet, so no account changes.",
    submit: "Make the profile",
    busy: "Making the profile …",
    done: (name: string) => `The profile ${name} is made.`,
  },
  change: {
    open: "Change …",
    openOf: (name: string) => `Change … ${name}`,
    title: (name: string) => `Change ${name}`,
    submit: "Save",
    busy: "Saving …",
    done: (name: string) => `The profile ${name} was changed.`,
  },
  remove: {
    open: "Delete …",
    openOf: (name: string) => `Delete … ${name}`,
    title: (name: string) => `Delete ${name}`,
    submit: "Delete the profile",
    busy: "Deleting …",
    done: (name: string) => `The profile ${name} was deleted.`,
  },
  /** Label and hint; those with a kind belong to it alone. */
  fields: {
    directory: ["Directory", "On the hosts; each account has one of its own in it."],
    read_only: ["Files", ""],
    umask: ["Umask", "Three octal digits, such as 027."],
    targets: ["Targets", "As host:port, one a line, as clients name them."],
    command: ["Program", "Its name in /etc/uam-commands on the hosts."],
    forwarding: ["Forwarding of connections", "yes, no, or only these targets: host:port, one a line."],
    groups: ["Groups of the host", "One a line, of those that its owner allows."],
    sudo: ["Sudo", "Templates of the host's owner, one a line."],
    second_factor: ["Keys", ""],
    attestation: ["Make of the security keys", ""],
    idle: ["Most silence", "After which a session ends, such as 30m. Empty: any."],
    max_sessions: ["Sessions for each connection", "Empty: what the host allows."],
    banner: ["Banner", "A file on the hosts, shown before each login."],
  },
  options: {
    read_only: { no: "may be written", yes: "may only be read" },
    second_factor: { none: "any", verified: "security keys only, with touch and PIN" },
    attestation: { none: "need not be proven", required: "has to be proven" },
  },
};

export const profileTexts = inLanguage({ en });
