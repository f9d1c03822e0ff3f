/** Phrases that several mails share. */

import type { JobsGone } from "../../protocol/host.ts";
import type { HostProfile } from "../../protocol/profile.ts";
import { narrowestOf } from "../../protocol/profile-order.ts";
import { PAGES } from "../../shared/product/pages.ts";
import type { AdminRole } from "../../shared/product/statuses.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { fittingCommands } from "../../shared/text/connection.ts";
import type { Site } from "../operation/context.ts";
import { howToAsk, type MailedTimes } from "./hours-phrases.ts";
import { type Block, button, code, endDate, fact, heading, line, link, paragraph } from "./letter.ts";
import { codeRequestLink, decisionLink, toPage } from "./links.ts";
import type { SiteWithKeys } from "./site.ts";

/** A user as the mails need it; `host_account` is `ext_` and the username. */
export interface MailedUser extends MailedTimes {
  readonly username: string;
  readonly expireAt: Date;
}

/** A user who is told how to connect. */
export interface ConnectingUser extends MailedUser {
  /** The profiles that bind them on the service's own host; null where nobody has any. */
  readonly profiles: readonly HostProfile[] | null;
}

/** The rights of each role, after "you may". */
export const ROLE_MAY: Readonly<Record<AdminRole, string>> = {
  owner: "do everything, also add and remove administrators",
  operator: "manage users, their keys, and applications for access",
  reviewer: "decide about applications for access",
  auditor: "read everything and change nothing",
};

export function hello(username: string): Block {
  return paragraph(`Hello ${line(username)},`);
}

/** The name of the host account. */
export function accountName({ username }: Pick<MailedUser, "username">): string {
  return hostAccountOf(line(username));
}

/** Which account, where, and until when. */
export function accountFacts(site: Site, user: MailedUser): readonly Block[] {
  const where = site.port === 22 ? site.host : `${site.host}, port ${site.port}`;
  const host = site.withoutHost ? [] : [fact("Host", where)];
  return [fact("Account", accountName(user)), ...host, fact("Until", endDate(user.expireAt))];
}

/** The command, and how to recognise the right host by its keys. */
export function howToConnect(site: SiteWithKeys, user: ConnectingUser): readonly Block[] {
  if (site.withoutHost) {
    return [
      paragraph(
        `Log in with ssh as ${accountName(user)}. Ask whoever gave you the access for the host: it is not the one of this service.`,
      ),
    ];
  }
  const commands = connectCommands(site, user);
  if (site.hostKeys.length === 0) return commands;
  return [
    ...commands,
    paragraph(
      "The first time, ssh shows the fingerprint of the host's key and asks whether to go on. Say yes only if it is one of these:",
    ),
    code(site.hostKeys.join("\n")),
  ];
}

/** The commands for what the account may do there: the same as at `GET /me`. */
function connectCommands(site: Site, user: ConnectingUser): readonly Block[] {
  const counts = narrowestOf(user.profiles ?? []);
  const commands = fittingCommands(counts === "incomparable" ? undefined : counts, site, line(user.username));
  const isForward = counts !== "incomparable" && counts?.kind === "forward";
  return [
    code(commands.join("\n")),
    ...(isForward
      ? [
          paragraph(
            "As long as a command runs, your programs reach its target on your own computer: as localhost, at the port behind -L.",
          ),
        ]
      : []),
  ];
}

/** The command that makes a key, and what it has to be where only security keys count. */
function makeKey({ profiles }: ConnectingUser): readonly Block[] {
  if (!profiles?.some(({ secondFactor }) => secondFactor === "verified")) return [code("ssh-keygen -t ed25519")];
  if (profiles.some(({ attestation }) => attestation === "required")) {
    return [
      paragraph(
        "It has to be a security key, whose touch and PIN are asked for at each login, and whose make is proven: log in first, get the challenge there, and make the key with the command that stands beside it. Another one does not open your account.",
      ),
    ];
  }
  return [
    code("ssh-keygen -t ed25519-sk -O verify-required"),
    paragraph(
      "It has to be such a key: a security key, whose touch and PIN are asked for at each login. Another one does not open your account.",
    ),
  ];
}

/** The way from a new account to the first connection. */
export function firstSteps(site: SiteWithKeys, user: ConnectingUser): readonly Block[] {
  return site.console ? stepsOnPages(site, user) : stepsByHand(site, user);
}

function stepsOnPages(site: SiteWithKeys, user: ConnectingUser): readonly Block[] {
  return [
    heading("How to begin"),
    paragraph(
      `1. Log in as ${line(user.username)} (with or without ext_). There is no password: a one-time code comes to this mailbox.`,
    ),
    button("Log in", codeRequestLink(site, user.username)),
    paragraph(
      "2. Add the public half of your SSH key, the file that ends in .pub. If you have no key yet, create one on your own computer first:",
    ),
    ...makeKey(user),
    toPage(site, "Add your key", "keys"),
    ...connecting(site, user),
  ];
}

/** The last steps: to ask, for those who have to, and to connect. */
function connecting(site: SiteWithKeys, user: ConnectingUser): readonly Block[] {
  const asking = howToAsk(site, user, 3);
  return [...(asking ?? []), paragraph(`${asking ? 4 : 3}. Connect:`), ...howToConnect(site, user)];
}

/** With nothing but curl, for a service without pages of its own; the only place that shows these commands. */
function stepsByHand(site: SiteWithKeys, user: ConnectingUser): readonly Block[] {
  return [
    heading("How to begin"),
    paragraph("1. If you have no SSH key yet, create one on your own computer:"),
    ...makeKey(user),
    paragraph(
      `2. Log in here as ${line(user.username)} (with or without ext_). There is no password: a one-time code comes to this mailbox. Then upload the public half of your key, the file that ends in .pub.`,
    ),
    link(site.baseUrl),
    ...connecting(site, user),
    heading("Without a web page"),
    paragraph(
      "If there is no web page at that address, these commands do step 2. The first one answers with the ID and an image: paste the image into the address bar of a browser, and put the text that it shows in place of TEXT. The second one makes the service mail you the CODE.",
    ),
    code(curlCommands(site, user)),
  ];
}

function curlCommands(site: SiteWithKeys, { username }: MailedUser): string {
  const key = '{\\"name\\":\\"laptop\\",\\"public_key\\":\\"$(cat ~/.ssh/id_ed25519.pub)\\"}';
  return [
    `API=${site.baseUrl}/api/v1`,
    "JSON='Content-Type: application/json'",
    "curl $API/auth/captcha",
    `curl $API/auth/otp/send -H "$JSON" \\\n-d '{"username":"${line(username)}","captcha_id":"ID","captcha_code":"TEXT"}'`,
    `curl $API/auth/otp/login -H "$JSON" -c uam.cookies \\\n-d '{"username":"${line(username)}","code":"CODE"}'`,
    `curl $API/me/keys -H "$JSON" -b uam.cookies \\\n-d "${key}"`,
  ].join("\n");
}

/** For those who have been there before: connect as always, and where the keys are. */
export function backAgain(site: SiteWithKeys, user: ConnectingUser): readonly Block[] {
  return [heading("How to connect"), ...howToConnect(site, user), ...yourKeys(site, user)];
}

/** Where the keys are. */
export function yourKeys(site: Site, user: Pick<MailedUser, "username">): readonly Block[] {
  return [
    paragraph(`To add or revoke a key, log in as ${line(user.username)} with a one-time code:`),
    site.console ? link(site.baseUrl + PAGES.keys) : link(site.baseUrl),
  ];
}

/** How to shut one's own account, where there are pages; `condition` is the clause that says when to. */
export function notMe(site: Site, condition: string): readonly Block[] {
  return [
    paragraph(
      `${condition}, shut your account on this page at once. No key opens it then, and its sessions end, until an administrator enables it again.`,
    ),
    toPage(site, "This was not me", "notMe"),
  ];
}

/** The contact for questions. `UAM_CONTACT` is an address or a sentence. */
export function whomToAsk(site: Site, question = "Questions?"): Block {
  const contact = line(site.contact ?? "");
  if (contact === "") return paragraph(`${question} Ask the administrators of ${site.host}.`);
  return paragraph(`${question} ${/^\S+@\S+$/.test(contact) ? `Write to ${contact}.` : contact}`);
}

/** The host, and who offers it, for people who have no account there. */
export function whose({ host, brand }: Site): string {
  return brand === undefined ? host : `${host} (${line(brand)})`;
}

/** For mails that report what somebody else did. */
export const UNEXPECTED = "Questions, or did you not expect this?";

/** The user's scheduled jobs that are removed with a key. */
export interface MailedJobs {
  /** On the service's own host, if there was anything. */
  readonly here: JobsGone | undefined;
  /** There are other hosts, where there may have been something. */
  readonly elsewhere: boolean;
}

/** Included if a key was revoked; nothing if there were no jobs. */
export function jobsGone({ here, elsewhere }: MailedJobs): readonly Block[] {
  const copy = "An administrator can show you a copy of what was in them for 30 days";
  const gone = `${elsewhere ? "were removed from the servers" : "were removed from the server"} as well, because no job says which key planted it`;
  if (here !== undefined) {
    const kept = here === "kept" ? `${copy}: set up again what you need.` : "Set up again what you need.";
    return [paragraph(`Your crontab, your at jobs and lingering ${gone}. ${kept}`)];
  }
  if (!elsewhere) return [];
  return [paragraph(`If you had a crontab, at jobs or lingering, they ${gone}. ${copy}: set up again what you need.`)];
}

/** The button to the page that asks, or how to ask without pages. */
export function toDecision(site: Site, label: string, { token }: { readonly token: string }): readonly Block[] {
  if (site.console) return [button(label, decisionLink(site, token))];
  return [
    paragraph(
      "This service has no pages. Send the token to it; the first request shows what is asked, the second answers:",
    ),
    code(
      `POST ${site.baseUrl}/api/v1/decisions/look\n{"token": "${token}"}\nPOST ${site.baseUrl}/api/v1/decisions\n{"token": "${token}", "answers": [{"id": …, "answer": "…"}]}`,
    ),
  ];
}
