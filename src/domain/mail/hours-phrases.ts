/** When a user has access, for the mails that say how to begin: nothing for those who have it at any hour. */

import { isZone, wallTime } from "../../shared/hours/zone.ts";
import type { HoursEnd, RequestRule } from "../../shared/product/statuses.ts";
import { counted } from "../../shared/text/counted.ts";
import type { Site } from "../operation/context.ts";
import { type Block, code, date, fact, paragraph } from "./letter.ts";
import { toPage } from "./links.ts";

/** As users are stored. */
export interface MailedTimes {
  readonly startsAt?: Date | null;
  readonly hours?: string | null;
  readonly companyHours?: string | null;
  readonly hoursEnd?: HoursEnd;
  readonly requestRule?: RequestRule | null;
  readonly requestHours?: number | null;
}

/** The start and the hours, in the zone of the hours, and what they mean. Follows the facts of the account. */
export function whenOpen(times: MailedTimes): readonly Block[] {
  const { startsAt = null, hoursEnd } = times;
  const calendars = calendarsOf(times);
  if (startsAt === null && calendars.length === 0) return [];
  const start = "Before the start, no key lets you in.";
  const end = hoursEnd === "logins" ? "what is open at their end may go on" : "at their end your sessions end";
  return [
    ...(startsAt === null ? [] : [fact("Starts", localDate(startsAt, calendars))]),
    ...calendars.map((hours, index) => fact(index === 0 ? "Hours" : "And within", hours)),
    paragraph(
      [
        ...(startsAt === null ? [] : [start]),
        ...(calendars.length === 0 ? [] : [`Your keys let you in only within these hours; ${end}.`]),
      ].join(" "),
    ),
  ];
}

/** How to ask for access, as the step of that number; undefined for those who need not ask. */
export function howToAsk(site: Site, times: MailedTimes, step: number): readonly Block[] | undefined {
  const { requestRule: rule = null, requestHours } = times;
  if (rule === null) return undefined;
  const most = requestHours ?? 1;
  const within = calendarsOf(times).length === 0 ? "" : ", within your hours";
  return [
    paragraph(
      `${step}. Ask for access, each time before you connect${within}: for ${counted(most, "hour")} at most. No key lets you in until then. ${ALLOWED_BY[rule]}`,
    ),
    ...(site.console
      ? [toPage(site, "Ask for access", "me")]
      : [code(`POST ${site.baseUrl}/api/v1/me/access\n{"hours": ${most}, "reason": "…"}`)]),
  ];
}

const ALLOWED_BY: Readonly<Record<RequestRule, string>> = {
  self: "It opens at once if you have just logged in.",
  sponsor: "Your sponsor gets a mail and decides, and a mail tells you.",
  review: "An administrator decides, and a mail tells you.",
};

/** Their own and their company's, each once. */
function calendarsOf({ hours, companyHours }: MailedTimes): readonly string[] {
  return [...new Set([hours, companyHours])].filter((text) => text != null);
}

/** In UTC where there are no hours, or their zone is not known here. */
function localDate(at: Date, [hours = ""]: readonly string[]): string {
  const zone = hours.split(" ").at(-1) ?? "";
  if (!isZone(zone)) return date(at);
  return date(new Date(wallTime(zone, at.getTime()))).replace(/UTC$/, zone);
}
