/** Mails about access on request: to those who decide, and to the user. Pure, like messages.ts. */

import { REQUEST_DAYS } from "../../shared/hours/on-request.ts";
import { counted } from "../../shared/text/counted.ts";
import type { Site } from "../operation/context.ts";
import { code, date, fact, type Letter, letter, line, paragraph, quote } from "./letter.ts";
import { toPage } from "./links.ts";
import { accountName, type ConnectingUser, hello, howToConnect, toDecision, whomToAsk, whose } from "./phrases.ts";
import type { SiteWithKeys } from "./site.ts";
import type { MailedQuestion } from "./sponsor-messages.ts";

/** A request for access. */
export interface MailedAccessRequest {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly fullName: string;
  /** Why. */
  readonly purpose: string;
  readonly hours: number | null;
  /** The names of the hosts; null for all of theirs. */
  readonly hosts: readonly string[] | null;
}

/** To the administrators: a user asks for access. */
export function accessRequested(site: Site, request: MailedAccessRequest): Letter {
  const username = line(request.username);
  return letter(`${username} asks for access to ${site.host}`, [
    paragraph(`${username} has to ask before each access to ${site.host}, and waits for your decision.`),
    fact("Username", username),
    fact("E-mail", request.email),
    fact("For", hoursOf(request)),
    ...(request.hosts === null ? [] : [fact("On", request.hosts.join(", "))]),
    fact("Reason", request.purpose),
    paragraph("The time runs from the moment at which you allow it."),
    ...(site.console
      ? [toPage(site, "See it and decide", "applications")]
      : [
          paragraph("To see the user, and decide:"),
          code(`uam user show ${username}\nuam access allow ${username}\nuam access refuse ${username} --reason TEXT`),
        ]),
  ]);
}

/** To the sponsor: whether their people may have access now. What they typed is quoted. */
export function accessAsked(site: Site, requests: readonly MailedAccessRequest[], question: MailedQuestion): Letter {
  const [only] = requests.length === 1 ? requests : [];
  const who = only === undefined ? `${requests.length} people` : line(only.username);
  return letter(`${who} ${only === undefined ? "ask" : "asks"} for access to ${site.host}`, [
    paragraph("Hello,"),
    paragraph(
      `You answer for ${who} on ${whose(site)}, with this address. They have no access there until you allow it, each time. This is what they typed:`,
    ),
    ...requests.map((request) =>
      quote([
        `Username: ${request.username}`,
        ...(request.fullName === "" ? [] : [`Name: ${request.fullName}`]),
        `For: ${hoursOf(request)}`,
        ...(request.hosts === null ? [] : [`On: ${request.hosts.join(", ")}`]),
        `Reason: ${request.purpose}`,
      ]),
    ),
    paragraph(
      "Opening the page decides nothing. It asks whether you allow it; the time runs from the moment at which you do.",
    ),
    ...toDecision(site, "See it and answer", question),
    paragraph("If you did not expect this, refuse it there, or ignore this mail: no access comes from ignoring it."),
    whomToAsk(site),
  ]);
}

/** To the user: their access is open, until when, and on which hosts where these are some. */
export function accessAllowed(
  site: SiteWithKeys,
  user: ConnectingUser,
  { until, hosts }: { readonly until: Date; readonly hosts: readonly string[] | null },
): Letter {
  return letter(`Your access to ${site.host} is open until ${date(until)}`, [
    hello(user.username),
    paragraph(`Your access to ${site.host} is open, as you asked.`),
    fact("Account", accountName(user)),
    fact("Until", date(until)),
    ...(hosts === null ? [] : [fact("On", hosts.join(", "))]),
    paragraph("At that moment your sessions end. Ask again before then if you need longer."),
    ...howToConnect(site, user),
    whomToAsk(site, "Did you not ask for it?"),
  ]);
}

/** To the user: they get no access now, and why. */
export function accessRefused(
  site: Site,
  { username, reason }: { readonly username: string; readonly reason: string },
): Letter {
  return letter(`Your request for access to ${site.host}`, [
    hello(username),
    paragraph(`Your request for access to ${site.host} was refused.`),
    ...(reason === "" ? [] : [fact("Reason", reason)]),
    ...(site.console ? [toPage(site, "See your account", "me")] : []),
    whomToAsk(site),
  ]);
}

/** To the user: nobody answered their request, and nobody will. */
export function accessUnanswered(
  site: Site,
  request: { readonly username: string; readonly hours: number | null },
): Letter {
  return letter(`Nobody answered your request for access to ${site.host}`, [
    hello(request.username),
    paragraph(
      `Nobody answered your request for ${hoursOf(request)} of access to ${site.host} within ${REQUEST_DAYS} days, so it is void. Nothing else has changed. Ask again if you still need it.`,
    ),
    ...(site.console ? [toPage(site, "See your account", "me")] : []),
    whomToAsk(site),
  ]);
}

function hoursOf({ hours }: Pick<MailedAccessRequest, "hours">): string {
  return counted(hours ?? 0, "hour");
}
