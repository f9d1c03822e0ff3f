/** Mails to administrators about hosts that are silent, and those that are back. Pure, like messages.ts. */

import type { Site } from "../operation/context.ts";
import { type Block, code, date, fact, type Letter, letter, line, paragraph } from "./letter.ts";

/** A host as the mails name it. */
export interface MailedHost {
  readonly name: string;
  /** Its last sign; null if there never was one. */
  readonly lastSeenAt: Date | null;
  /** When it shuts by itself, or did; null where it has no lease. */
  readonly shutsAt: Date | null;
}

/** Most hosts that one mail names; it gives the number of the others. */
const NAMED = 30;

/** A quarter of the lease has passed without a sign. */
export function hostsSilent(site: Site, hosts: readonly MailedHost[]): Letter {
  return letter(`${site.host}: ${subjectOf(hosts, "has", "have")} not been heard of`, [
    paragraph(
      `${hosts.length === 1 ? "This host has" : "These hosts have"} not been heard of for a while. Changes made meanwhile do not reach ${hosts.length === 1 ? "it" : "them"}; when the lease ends, nobody can log in there until the agent is back.`,
    ),
    ...listed(
      hosts,
      ({ lastSeenAt, shutsAt }) =>
        `${seen(lastSeenAt)}; ${shutsAt === null ? "stays open: no lease" : `shuts ${date(shutsAt)}`}`,
    ),
    ...whatToDo(),
  ]);
}

/** The lease has ended without a sign. */
export function hostsShut(site: Site, hosts: readonly MailedHost[]): Letter {
  return letter(`${site.host}: nobody can log in to ${subjectOf(hosts, "", "").trim()} any more`, [
    paragraph(
      `The lease of ${hosts.length === 1 ? "this host" : "these hosts"} has ended without a sign of the agent. External accounts there are shut until it is back.`,
    ),
    ...listed(
      hosts,
      ({ lastSeenAt, shutsAt }) => `${seen(lastSeenAt)}; shut${shutsAt === null ? "" : ` since ${date(shutsAt)}`}`,
    ),
    ...whatToDo(),
  ]);
}

/** Hosts are back that a mail reported as silent. */
export function hostsBack(site: Site, hosts: readonly MailedHost[]): Letter {
  return letter(`${site.host}: ${subjectOf(hosts, "is", "are")} back`, [
    paragraph("The service hears from them again, and the changes made meanwhile are applied."),
    ...listed(hosts, ({ lastSeenAt }) => seen(lastSeenAt)),
  ]);
}

function subjectOf(hosts: readonly MailedHost[], one: string, many: string): string {
  return hosts.length === 1 ? `${line(hosts[0]?.name ?? "")} ${one}` : `${hosts.length} hosts ${many}`;
}

function listed(hosts: readonly MailedHost[], tell: (host: MailedHost) => string): readonly Block[] {
  const more = hosts.length - NAMED;
  return [
    ...hosts.slice(0, NAMED).map((host) => fact(line(host.name), tell(host))),
    ...(more > 0 ? [paragraph(`And ${more} more.`)] : []),
  ];
}

function seen(at: Date | null): string {
  return at === null ? "never heard of" : `last heard of ${date(at)}`;
}

function whatToDo(): readonly Block[] {
  return [
    paragraph("Look there whether the agent runs and reaches the service:"),
    code("uam agent status"),
    paragraph("To list the problems of hosts, on the service's host:"),
    code("uam host list"),
  ];
}
