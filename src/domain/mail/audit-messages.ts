/** Mails to administrators about shortened periods and removed records. */

import { formatDuration } from "../../shared/time/duration.ts";
import type { Site } from "../operation/context.ts";
import { code, date, fact, type Letter, letter, line, paragraph } from "./letter.ts";
import { toPage } from "./links.ts";

/** A setting that was made shorter, and when it takes effect. */
export interface Shortening {
  /** As in `policy.audit_retention`. */
  readonly key: string;
  /** Milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly at: Date;
  /** The author, as the audit log names them. */
  readonly by: string;
}

/** To the administrators: existing data will be deleted earlier, and how to prevent it. */
export function periodShortened(site: Site, { key, from, to, at, by }: Shortening): Letter {
  const deleted = key === "policy.audit_retention" ? "Audit records" : "Expired accounts with their files";
  return letter(`${site.host}: ${key} becomes shorter on ${date(at)}`, [
    paragraph(`A setting of ${site.host} was made shorter:`),
    fact("Setting", key),
    fact("Now", formatDuration(from)),
    fact("Then", formatDuration(to)),
    fact("When", date(at)),
    fact("Set by", by),
    paragraph(`${deleted} that are older than that will then be deleted for good.`),
    paragraph("If that is not intended, set it back before then, for example:"),
    code(`uam setting set ${line(key)} ${formatDuration(from)}`),
    ...(site.console ? [toPage(site, "See the settings", "settings")] : []),
  ]);
}

/** Audit records that retention removed. */
export interface Purge {
  readonly removed: number;
  /** All of them are older. */
  readonly before: Date;
  /** Milliseconds. */
  readonly retention: number;
}

/** To the administrators: audit records were removed, how many and up to when. */
export function auditPurged(site: Site, { removed, before, retention }: Purge): Letter {
  const records = removed === 1 ? "1 audit record" : `${removed} audit records`;
  return letter(`${site.host}: ${records} removed`, [
    paragraph(
      `The service on ${site.host} removed ${records} from before ${date(before)}: they are kept for ${formatDuration(retention)}.`,
    ),
    paragraph("If that is not intended, see who changed the setting, and check that the rest of the log is intact:"),
    code("uam audit list --resource-id policy.audit_retention\nuam audit verify"),
    ...(site.console ? [toPage(site, "See the audit log", "audit")] : []),
  ]);
}
