/** Mails to administrators about their passkeys and authenticator apps. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { type Block, date, fact, type Letter, letter, line, paragraph } from "./letter.ts";
import { toPage } from "./links.ts";
import { hello, UNEXPECTED, whomToAsk } from "./phrases.ts";

/** The added or removed factor, with the author and their address. */
export interface FactorChange {
  readonly username: string;
  /** Such as "the passkey Laptop". */
  readonly names: readonly string[];
  readonly at: Date;
  /** As the audit log names them. */
  readonly by: string;
  /** Their address; "" for the shell. */
  readonly from: string;
}

/** To an administrator who can now log in with another factor. */
export function factorsAdded(site: Site, change: FactorChange): Letter {
  return letter(`A new way to log in to ${site.host} was added`, [
    hello(change.username),
    paragraph(`From now on you can also log in to the user access management of ${site.host} with:`),
    ...factsOf(change),
    paragraph("If it was not you, remove it at once and change your password; then tell whoever runs the service."),
    ...yourLogin(site),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To an administrator who can no longer log in with a factor. */
export function factorsRemoved(site: Site, change: FactorChange): Letter {
  return letter(`A way to log in to ${site.host} was removed`, [
    hello(change.username),
    paragraph(`You can no longer log in to the user access management of ${site.host} with:`),
    ...factsOf(change),
    paragraph("If it was not you, change your password at once, and tell whoever runs the service."),
    ...yourLogin(site),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** A login that was refused. */
export interface RefusedUse {
  readonly username: string;
  readonly name: string;
  readonly at: Date;
  readonly from: string;
}

/** To the owner of a passkey that seems to have a copy. */
export function counterWentBack(site: Site, { username, name, at, from }: RefusedUse): Letter {
  return letter(`A passkey for ${site.host} may have been copied`, [
    hello(username),
    paragraph(
      `Somebody tried to log in to the user access management of ${site.host} with your passkey ${line(name)}, and was refused: it has counted fewer uses than there were. Either it was copied, or it was reset.`,
    ),
    fact("When", date(at)),
    ...(from === "" ? [] : [fact("From", from)]),
    paragraph("Remove that passkey, and add a new one. If it was not you who tried, tell whoever runs the service."),
    ...yourLogin(site),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To an administrator whose password somebody seems to have, without the app. */
export function codesGuessed(site: Site, { username, at, from }: Omit<RefusedUse, "name">): Letter {
  return letter(`Somebody may know your password for ${site.host}`, [
    hello(username),
    paragraph(
      `Somebody gave your password for the user access management of ${site.host}, and then too many wrong codes of an authenticator app. Codes are not accepted for a while.`,
    ),
    fact("When", date(at)),
    ...(from === "" ? [] : [fact("From", from)]),
    paragraph("If it was not you, change your password at once, and tell whoever runs the service."),
    ...yourLogin(site),
    whomToAsk(site, UNEXPECTED),
  ]);
}

function factsOf({ names, at, by, from }: FactorChange): readonly Block[] {
  return [
    ...names.map((name) => fact("What", name)),
    fact("When", date(at)),
    fact("By", by),
    ...(from === "" ? [] : [fact("From", from)]),
  ];
}

function yourLogin(site: Site): readonly Block[] {
  return site.console ? [toPage(site, "See your login", "account")] : [];
}
