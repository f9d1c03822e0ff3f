/** What `uam uninstall` leaves on the host, in words: above all who can still log in. */

import { type AccountTable, readAccounts } from "../host/account.ts";
import { counted } from "../shared/text/counted.ts";
import { DAY } from "../shared/time/clock.ts";
import { managedAccounts } from "./install.ts";
import { CONFIG_DIRECTORY, SSHD_DROP_IN, STATE_DIRECTORY } from "./settings.ts";

export interface LeftAccounts {
  /** Names of the accounts that the service made. */
  readonly all: readonly string[];
  /** Those whose expiry date has not come, so that their keys open them; undefined where this process may not read that. */
  readonly open: readonly string[] | undefined;
}

/** The accounts on this host that the service made, or those of another table. */
export function leftAccounts(now: Date, table: AccountTable = readAccounts()): LeftAccounts {
  const all = managedAccounts(table);
  const { shadow } = table;
  const isOpen = (name: string) => (shadow?.get(name)?.expires ?? Number.POSITIVE_INFINITY) * DAY > now.getTime();
  return { all, open: shadow === undefined ? undefined : all.filter(isOpen) };
}

/** The sentences for whoever removes the service, or asks beforehand what will stay. */
export function whatStays({ all, open }: LeftAccounts, when: "before" | "after"): string {
  const data = `The data stays in ${STATE_DIRECTORY}, the configuration in ${CONFIG_DIRECTORY}.\n`;
  const rest = all.length === 0 ? "There are no accounts of external users.\n" : aboutAccounts(all, open, when);
  return `${when === "before" ? "Nothing was changed." : "Uninstalled."} ${rest}${data}`;
}

function aboutAccounts(all: readonly string[], open: LeftAccounts["open"], when: "before" | "after"): string {
  const accounts = `${counted(all.length, "account")} of external users ${all.length === 1 ? "stays" : "stay"}`;
  const dropIn = `  ${SSHD_DROP_IN} stays with them: without it their own authorized_keys2 would count again.\n`;
  if (open?.length === 0) return `${accounts}, all of them shut: ${all.join(", ")}\n${dropIn}`;
  const named =
    open === undefined
      ? `only root can see which of them can still log in: ${all.join(", ")}`
      : `${open.length} can still log in: ${open.join(", ")}`;
  const how =
    when === "before"
      ? "  Shut them first: uam user disable --status active\n"
      : "  To shut one: usermod --expiredate 1 NAME; pkill -KILL -u NAME\n";
  return `${accounts}; ${named}
  Without the service, sshd refuses them from their end on; nothing shuts them before, or ends a session.
${how}${dropIn}`;
}
