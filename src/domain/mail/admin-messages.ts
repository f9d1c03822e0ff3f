/** Mails to administrators about their own accounts. Pure, like messages.ts. */

import type { AdminRole } from "../../shared/product/statuses.ts";
import { HOUR } from "../../shared/time/clock.ts";
import type { Site } from "../operation/context.ts";
import { button, code, date, fact, type Letter, letter, line, paragraph } from "./letter.ts";
import { resetLink } from "./links.ts";
import { hello, ROLE_MAY, UNEXPECTED, whomToAsk } from "./phrases.ts";

/** An invitation, and its author. */
export interface Invitation {
  readonly username: string;
  readonly role: AdminRole;
  readonly token: string;
  /** Milliseconds. */
  readonly ttl: number;
  readonly by: string;
}

/** To somebody who becomes an administrator: the link that sets the password. */
export function adminInvited(site: Site, { username, role, token, ttl, by }: Invitation): Letter {
  return letter(`Become an administrator of ${site.host}`, [
    hello(username),
    paragraph(
      `${line(by)} has made you an administrator of the user access management of ${site.host}. As its ${role} you may ${ROLE_MAY[role]}. To log in, set a password first:`,
    ),
    ...(site.console
      ? [button("Set your password", resetLink(site, token))]
      : [
          paragraph("Send this, with the token and the password that you choose:"),
          code(`POST ${site.baseUrl}/api/v1/auth/admin/reset\n{"token": "${line(token)}", "new_password": "…"}`),
        ]),
    paragraph(
      `${site.console ? "The link" : "The token"} is valid for ${Math.floor(ttl / HOUR)} hours and works once. Your password has 15 characters or more, and your username is ${line(username)}. If it has run out, ask for another one: ${site.console ? '"Forgotten your password?" at the login' : "POST /api/v1/auth/admin/forgot"}.`,
    ),
    paragraph("If you do not expect this, do nothing: without a password nobody can log in as you."),
    whomToAsk(site),
  ]);
}

/** A change of an administrator's address. */
export interface AddressChange {
  readonly username: string;
  readonly at: Date;
  /** The author, as the audit log names them. */
  readonly by: string;
}

/** To the address that an administrator had until now. */
export function adminAddressRemoved(site: Site, { username, at, by }: AddressChange): Letter {
  return letter(`Mail for ${line(username)} of ${site.host} goes elsewhere now`, [
    hello(username),
    paragraph(
      `The address of the administrator ${line(username)} of ${site.host} was changed. Links to set the password, and all other mail, no longer come here. A link that was mailed here before is void.`,
    ),
    fact("When", date(at)),
    fact("Changed by", by),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To the address that an administrator has from now on. */
export function adminAddressSet(site: Site, { username, at, by }: AddressChange): Letter {
  return letter(`Mail for ${line(username)} of ${site.host} comes here now`, [
    hello(username),
    paragraph(
      `This is now the address of the administrator ${line(username)} of ${site.host}. Links to set the password, and notices to administrators, come here.`,
    ),
    fact("When", date(at)),
    fact("Changed by", by),
    whomToAsk(site, UNEXPECTED),
  ]);
}

/** To an address that an administrator wants to try out: nothing follows from it. */
export function testMail(site: Site, { at, by }: { readonly at: Date; readonly by: string }): Letter {
  return letter(`Test mail from ${site.host}`, [
    paragraph(
      `The user access management of ${site.host} sent this mail because an administrator tried out how it sends mail. There is nothing to do.`,
    ),
    fact("Service", site.baseUrl),
    fact("When", date(at)),
    fact("Sent by", by),
    whomToAsk(site),
  ]);
}
