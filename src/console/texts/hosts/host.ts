/** The page about one host. */

import { count, inLanguage, number } from "../language.ts";

const en = {
  title: "Host",
  gone: {
    title: (id: number) => `There is no host with the number ${id}`,
    text: "It was retired, or never existed. What was recorded is in the audit log.",
  },
  facts: {
    label: "Facts",
    state: "State",
    address: "SSH",
    unknown: "It has not said yet.",
    groups: "Groups",
    lease: "Lease",
    none: "none: cut off from the service, it stays open for ever",
    own: "its own",
    inherited: "from its groups, or the usual one",
    local: "It needs none: the service itself runs here.",
    ends: {
      logins: "At its end logins stop; open sessions go on.",
      sessions: "At its end logins stop and open sessions end.",
    },
    until: "Shuts by itself",
    untilText: (time: string) => `${time}, if nothing reaches it from now on`,
    seen: "Last seen",
    enrolled: "Joined",
    version: "Version",
    mode: "Works",
    accounts: "Accounts",
    accountsText: (total: number, open: number) =>
      `${count(total, "user has", "users have")} an account there; open: ${number(open)}`,
    keys: "Host keys",
    noKeys: "It has not told any.",
  },
  modes: { direct: "as root", sudo: "by sudo", "dry-run": "dry run: it changes nothing" } as Readonly<
    Record<string, string>
  >,
  actions: { change: "Change …", lock: "Lock …", unlock: "Unlock …", retire: "Retire …" },
  problems: {
    title: "Problems",
    none: "Nothing is wrong with this host.",
    account: "Account",
    whole: "the host",
    what: "What is wrong",
    since: "Since",
    advice: "What to do",
  },
  people: {
    title: "Users on this host",
    none: "Nobody has an account there.",
    pastEnd: "This page is past the end.",
    user: "Username",
    status: "Status",
    ends: "Access ends",
    by: "Given by",
    byName: "name",
    byGroup: (group: string) => `the group ${group}`,
    removing: "nobody: being removed",
    state: "On this host",
    states: { applied: "applied", pending: "pending", problem: "problem" },
    sessions: "SSH sessions",
    sessionsUnknown: "Open SSH sessions are known on the service's own host only.",
    unknown: "not known",
  },
  change: {
    title: (name: string) => `Change ${name}`,
    name: "Name",
    kind: "Lease",
    kinds: { inherit: "as its groups say", own: "its own", none: "none: stays open for ever" },
    lease: "Length",
    leaseHint: "From 5m to 7d, such as 30m or 4h.",
    leaseWrong: "Type a length from 5m to 7d, such as 30m, 4h or 1d.",
    noneWarning: "Cut off from the service, the host would stay open for ever, whatever is taken away here.",
    ends: "At the lease's end",
    endsKinds: { logins: "logins stop", sessions: "logins stop, and open sessions end" },
    submit: "Save",
    busy: "Saving …",
    done: (name: string) => `${name} was changed. A new lease holds from its next request on.`,
  },
  lock: {
    title: (name: string) => `Lock ${name}`,
    effects: (name: string, open: number) => [
      open === 0
        ? `No account is open on ${name} at present, and none can be opened.`
        : `${count(open, "account", "accounts")} on ${name} ${open === 1 ? "is" : "are"} shut: nobody can log in, and open SSH sessions end.`,
      "Accounts and homes stay, and other hosts are not touched.",
    ],
    when: (by: string | undefined) =>
      by === undefined
        ? "It holds as soon as the host hears of it. It has no lease: cut off, it stays open."
        : `It holds as soon as the host hears of it, usually within a second; if it is cut off, by ${by}.`,
    submit: "Lock the host",
    busy: "Locking …",
    done: (name: string) => `${name} is locked.`,
  },
  unlock: {
    title: (name: string) => `Unlock ${name}`,
    effects: (name: string, open: number) => [
      `${count(open, "account opens", "accounts open")} on ${name}, with what is stored by now.`,
      "The agent keeps its key. If the host was locked because the key was copied, unlock it only if you know why: else retire it by force, and join it anew.",
    ],
    submit: "Unlock the host",
    busy: "Unlocking …",
    done: (name: string) => `${name} is unlocked.`,
  },
  retire: {
    title: (name: string) => `Retire ${name}`,
    force: "Forget it at once, without waiting for it",
    forceHint: "Only for a host that is gone for good: its accounts stay on it.",
    type: (name: string) => `Type ${name} to retire this host`,
    wrong: (name: string) => `This is not the name. Type ${name}.`,
    submit: "Retire the host",
    busy: "Retiring …",
    begun: (name: string, accounts: number) =>
      `${name} is being retired: ${count(accounts, "account is", "accounts are")} removed there, then it is forgotten. This page follows it.`,
    forgotten: (name: string, by: string | undefined) =>
      by === undefined
        ? `${name} is forgotten. It has no lease, so it stays open until somebody shuts it there.`
        : `${name} is forgotten. From ${by} on nobody can log in there.`,
  },
};

export const oneHostTexts = inLanguage({ en });
