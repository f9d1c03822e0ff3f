/** Mails to administrators about their tokens for machines. Pure, like messages.ts. */

import type { AdminRole } from "../../shared/product/statuses.ts";
import type { Site } from "../operation/context.ts";
import { type Block, date, fact, type Letter, letter, line, paragraph } from "./letter.ts";
import { toPage } from "./links.ts";
import { hello, ROLE_MAY, UNEXPECTED, whomToAsk } from "./phrases.ts";

/** A token as the mails name it; never the token itself. */
export interface MailedToken {
  readonly id: number;
  readonly name: string;
  readonly prefix: string;
  readonly owner: string;
  readonly role: AdminRole;
  readonly networks: readonly string[];
  readonly expiresAt: Date;
}

/** How a token came to be. */
export interface TokenMade extends MailedToken {
  readonly at: Date;
  /** The author, as the audit log names them. */
  readonly by: string;
  /** Their address; "" for the shell. */
  readonly from: string;
}

/** To whom a new token belongs. */
export function tokenMade(site: Site, token: TokenMade): Letter {
  return letter(`A token for ${site.host} was made in your name`, [
    hello(token.owner),
    paragraph(
      `A machine that has the token ${line(token.name)} may act as you in the user access management of ${site.host}, as its ${token.role}: ${ROLE_MAY[token.role]}.`,
    ),
    ...facts(token),
    fact("Made", date(token.at)),
    fact("Made by", token.by),
    ...(token.from === "" ? [] : [fact("From", token.from)]),
    paragraph("If you do not expect this, revoke the token at once, and then change your password."),
    ...whereToRevoke(site, token),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** A week before a token ends. */
export function tokenEnds(site: Site, token: MailedToken): Letter {
  return letter(`The token ${line(token.name)} for ${site.host} ends soon`, [
    hello(token.owner),
    paragraph(
      `The token ${line(token.name)} ends in a week. What uses it is refused from then on. If it is still needed, make another one, give it to the machine, and revoke this one.`,
    ),
    ...facts(token),
    ...whereToRevoke(site, token),
    whomToAsk(site),
  ]);
}

function facts({ prefix, role, networks, expiresAt }: MailedToken): readonly Block[] {
  return [
    fact("Begins with", prefix),
    fact("Role", role),
    fact("Usable from", networks.length === 0 ? "anywhere" : networks.join(", ")),
    fact("Ends", date(expiresAt)),
  ];
}

function whereToRevoke(site: Site, { id }: MailedToken): readonly Block[] {
  if (site.console) return [toPage(site, "See your tokens", "tokens")];
  return [paragraph(`Revoke it with DELETE /api/v1/tokens/${id}, or on the host with "uam token revoke ${id}".`)];
}
