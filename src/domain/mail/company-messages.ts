/** Mails to the managers of a company. Pure, like messages.ts. */

import { DAY } from "../../shared/time/clock.ts";
import type { Site } from "../operation/context.ts";
import { endDate, fact, type Letter, letter, line, paragraph } from "./letter.ts";
import { hello, whomToAsk, whose } from "./phrases.ts";

/** A company as the mails name it, and the manager. */
export interface MailedCompany {
  readonly company: string;
  /** How many people of it have access. */
  readonly users: number;
  readonly contractEnd: Date;
  /** The manager's; null for the company's sponsor. */
  readonly username: string | null;
}

/** Before the contract of a company ends. */
export function contractEnds(site: Site, { company, users, contractEnd, username }: MailedCompany, now: Date): Letter {
  const left = Math.max(1, Math.ceil((contractEnd.getTime() - now.getTime()) / DAY));
  const soon = left === 1 ? "within a day" : `in ${left} days`;
  return letter(`The access of ${line(company)} to ${site.host} ends ${soon}`, [
    username === null ? paragraph("Hello,") : hello(username),
    paragraph(
      `The contract of ${line(company)} ends ${soon}. By then at the latest the access of everybody of it to ${whose(site)} ends: now ${users === 1 ? "1 person" : `${users} people`} can log in. ${username === null ? "You answer for its people." : "You are a manager of the company."}`,
    ),
    fact("End of the contract", endDate(contractEnd)),
    paragraph(
      "If access is needed for longer, tell the administrators of the service before that date. If not, there is nothing to do.",
    ),
    whomToAsk(site),
  ]);
}
