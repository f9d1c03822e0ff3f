/** Finding people, pages and actions, and the keys that there are. */

import { count, inLanguage } from "./language.ts";

const en = {
  title: "Find",
  label: (isAdmin: boolean) => (isAdmin ? "People, hosts, pages and actions" : "Pages and actions"),
  hint: "↓ and ↑ choose, Enter opens.",
  groups: { pages: "page", actions: "action", people: "user", hosts: "host" },
  looking: "Looking …",
  none: "Nothing is called so.",
  found: (amount: number) => count(amount, "result", "results"),
  everybody: "All users who match",
  companies: "Companies",
  hostGroups: "Groups of hosts",
  profiles: "Profiles",
  sponsors: "Sponsors",
  actions: {
    createUser: "Create a user",
    addCompany: "Add a company",
    importUsers: "Import users",
    decide: "Approve or reject an application",
    addHost: "Add a host",
    inviteAdmin: "Invite an administrator",
    makeWebhook: "Make a webhook",
    makeToken: "Make a token",
    addKey: "Add a key",
    moreTime: "Ask for more time",
  },
  keys: {
    title: "Keys",
    everywhere: "On every page",
    queue: "In the list of applications, while one of them has the focus",
    list: {
      everywhere: [
        [["Ctrl K", "/"], "find people, pages and actions"],
        [["?"], "these keys"],
        [["Esc"], "close a dialog"],
      ],
      queue: [
        [["j", "↓"], "next"],
        [["k", "↑"], "previous"],
        [["a"], "approve; then Enter"],
        [["r"], "reject; then Ctrl+Enter"],
      ],
    } as Readonly<Record<"everywhere" | "queue", readonly (readonly [readonly string[], string])[]>>,
    single: "Keys without Ctrl work",
    singleHint: "Switch them off if you speak to your computer, or press keys by accident. This browser remembers it.",
  },
};

export const finderTexts = inLanguage({ en });
