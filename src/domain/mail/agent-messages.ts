/** Mails to administrators about hosts that do, or know, what they should not. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { code, fact, type Letter, letter, line, paragraph } from "./letter.ts";

interface NamedHost {
  readonly name: string;
}

/** To administrators: a host was locked, because its agent's key is in two places. */
export function hostKeyCopied(site: Site, { name }: NamedHost): Letter {
  return letter(`${site.host}: the host ${line(name)} is locked, because the key of its agent was copied`, [
    paragraph(
      `Two programs speak to the service with the key of the agent on ${line(name)}. Either somebody copied the key, or the machine was set back to an older state.`,
    ),
    paragraph(
      "The host is locked: all its external accounts are shut as soon as its agent asks, and at the latest when its lease ends. Other hosts are not affected.",
    ),
    paragraph(
      "Find out which it was. If the key may have been copied, retire the host, and join it again with a new one:",
    ),
    code(`uam host retire ${line(name)} --force`),
    paragraph("If the machine was only set back:"),
    code(`uam host unlock ${line(name)}`),
  ]);
}

/** To administrators: a host knows records that the audit log does not have. */
export function historyDiverged(site: Site, { name }: NamedHost): Letter {
  return letter(`${site.host}: the audit log is not the one that the host ${line(name)} knows`, [
    paragraph(
      `The agent on ${line(name)} has applied records that the audit log does not have: the database was set back, as by restoring a backup or by a failover that lost the newest changes. Other hosts may find the same; this is the only mail about it.`,
    ),
    paragraph(
      "These hosts shut every account that the current state shuts. They open no account that was shut, and remove no account that is missing in the current state, until an administrator accepts that state. Look through it first: accounts and keys that were disabled or revoked after that moment may be open in it. Accepting also removes the accounts that are missing in it; they are listed first.",
    ),
    code("uam fleet accept"),
  ]);
}

/** To administrators: an account that is to be shut was found open, or changed, on a host. */
export function closedAccountDiffered(
  site: Site,
  { host, account, found }: { readonly host: string; readonly account: string; readonly found: string },
): Letter {
  return letter(`${site.host}: the closed account ${line(account)} was changed on ${line(host)}`, [
    paragraph(
      `The account ${line(account)} should be shut, but on ${line(host)} it was not as it should be. Somebody with access to that host may have opened it. The agent repairs what it finds.`,
    ),
    fact("Host", host),
    fact("Account", account),
    fact("Found", found),
    paragraph("The finding is in the audit log, under host.drift."),
  ]);
}
