/** Mails to owners about webhooks. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { date, fact, type Letter, letter, paragraph } from "./letter.ts";
import { toPage } from "./links.ts";

/** A webhook that took nothing for so long that it was switched off. */
export interface SwitchedOff {
  readonly id: number;
  /** Where it goes, without the path, which may be secret. */
  readonly origin: string;
  readonly since: Date;
  readonly error: string;
}

/** To the owners, when a webhook was switched off. */
export function webhookSwitchedOff(site: Site, { id, origin, since, error }: SwitchedOff): Letter {
  return letter(`The webhook to ${origin} was switched off`, [
    paragraph(
      `The user access management of ${site.host} could deliver nothing to the webhook ${id} for three days, and has switched it off.`,
    ),
    fact("Goes to", origin),
    fact("Since", date(since)),
    fact("Last error", error),
    paragraph(
      "Once the receiver answers again, switch the webhook on: it is told of everything from where it had got to, as far as the audit log still has it.",
    ),
    ...(site.console
      ? [toPage(site, "See the webhooks", "webhooks")]
      : [paragraph(`Switch it on with "uam webhook update ${id} --status active" on the host.`)]),
  ]);
}
