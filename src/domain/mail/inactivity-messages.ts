/** Mails about access that nobody uses. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { date, day, fact, type Letter, letter, paragraph } from "./letter.ts";
import { toPage } from "./links.ts";
import { accountName, hello, whomToAsk } from "./phrases.ts";

/** To the user: nobody has used the account for long, and it will be shut. */
export function inactiveSoon(
  site: Site,
  user: { readonly username: string },
  { since, endsAt }: { readonly since: Date; readonly endsAt: Date },
): Letter {
  return letter(`Your account on ${site.host} will be shut on ${day(endsAt)}`, [
    hello(user.username),
    paragraph(
      `You have neither logged in to this service nor used a key on ${site.host} since ${day(since)}. Access that nobody uses is shut.`,
    ),
    fact("Account", accountName(user)),
    fact("Shut on", date(endsAt)),
    paragraph("To keep it, log in once before then, by SSH or to this service."),
    ...(site.console ? [toPage(site, "Log in", "login")] : []),
    whomToAsk(site),
  ]);
}
