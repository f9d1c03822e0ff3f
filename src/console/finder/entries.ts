/** What can be found from everywhere: pages, and what is often done. */

import { PAGES } from "../../shared/product/pages.ts";
import type { AdminRole } from "../../shared/product/statuses.ts";
import { navigationFor } from "../navigation.ts";
import { mayChange, maySee } from "../roles.ts";
import type { Principal } from "../session.tsx";
import { common } from "../texts/common.ts";
import { finderTexts as texts } from "../texts/finder.ts";

/** Something to choose: it leads to an address, or is done here. */
export interface Entry {
  readonly text: string;
  /** What tells it from others with the same text, such as an address or a name. */
  readonly hint?: string;
  readonly to: string | "keys" | "leave";
}

/** Pages that the menu does not name, or not to all, by who may see them. */
const BELOW = [
  { text: texts.companies, to: PAGES.companies, area: "users" },
  { text: texts.hostGroups, to: PAGES.hostGroups, area: "hosts" },
  { text: texts.profiles, to: PAGES.profiles, area: "hosts" },
  { text: texts.sponsors, to: PAGES.sponsors, area: "reviews" },
  { text: common.nav.admin.access, to: PAGES.access, area: "access" },
] as const;

/** What the session's owner may see and do; nothing that the service would refuse. */
export function entriesFor(principal: Principal): {
  readonly pages: readonly Entry[];
  readonly actions: readonly Entry[];
} {
  const { user_type: kind, role = "auditor" } = principal;
  const listed = navigationFor({ kind: "open", principal }, true).map(({ href, text }) => ({ text, to: href }));
  const isListed = (page: string) => listed.some(({ to }) => to === page);
  const below = BELOW.filter(({ area, to }) => maySee(role, area) && !isListed(to));
  const own = kind === "admin" ? [...below, { text: common.nav.account, to: PAGES.account }] : [];
  const actions = kind === "admin" ? adminActions(role) : userActions();
  return {
    pages: [...listed, ...own],
    actions: [...actions, { text: texts.keys.title, to: "keys" }, { text: common.logOut, to: "leave" }],
  };
}

function adminActions(role: AdminRole): readonly Entry[] {
  const { actions } = texts;
  const may = (area: Parameters<typeof mayChange>[1], entry: Entry) => (mayChange(role, area) ? [entry] : []);
  return [
    ...may("users", { text: actions.createUser, to: `${PAGES.users}#create` }),
    ...may("users", { text: actions.addCompany, to: `${PAGES.companies}#make` }),
    ...may("users", { text: actions.importUsers, to: PAGES.userImport }),
    ...may("applications", { text: actions.decide, to: PAGES.applications }),
    ...may("hosts", { text: actions.addHost, to: `${PAGES.hosts}#add` }),
    ...may("admins", { text: actions.inviteAdmin, to: `${PAGES.admins}#invite` }),
    ...may("webhooks", { text: actions.makeWebhook, to: `${PAGES.webhooks}#make` }),
    { text: actions.makeToken, to: `${PAGES.tokens}#make` },
  ];
}

function userActions(): readonly Entry[] {
  const { actions } = texts;
  return [
    { text: actions.addKey, to: PAGES.keys },
    { text: actions.moreTime, to: PAGES.me },
  ];
}

/** Those whose text has every word that was typed, in any case; all of them where nothing was. */
export function matching(entries: readonly Entry[], typed: string): readonly Entry[] {
  const words = plain(typed).split(/\s+/).filter(Boolean);
  return entries.filter(({ text }) => words.every((word) => plain(text).includes(word)));
}

/** Without case and accents. */
function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
