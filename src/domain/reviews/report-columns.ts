/** The columns of a report, and the evidence in words for whoever reads it in a spreadsheet. Pure. */

import type { Evidence } from "./evidence.ts";

/** What each line of the CSV repeats, so that it stands for itself. */
export const COMMON_COLUMNS = [
  ...(["review", "scope", "started_at", "due_at", "closed_at", "start_record", "close_record", "head"] as const),
];

/** What was answered about a user. */
export const ANSWER_COLUMNS = [
  ...(["user_id", "username", "answer", "grace_until", "until", "reason"] as const),
  ...(["answered_at", "answered_by_type", "answered_by", "answered_from", "record"] as const),
];

/** The evidence, one fact in each. */
export const FACT_COLUMNS = [
  ...(["full_name", "email", "company", "supervisor", "purpose", "status", "expire_at", "hosts", "groups"] as const),
  ...(["source_networks", "hours", "profile", "keys", "last_key_use", "last_key_use_from", "last_login_at"] as const),
  ...(["logins", "logins_since", "created_at", "created_by", "extended_at", "extended_by"] as const),
  ...(["extended_because", "drift"] as const),
];

/** The evidence as it is sealed, which `uam review verify` needs. */
export const SEALED_COLUMN = "evidence";

export type Facts = Readonly<Record<(typeof FACT_COLUMNS)[number], string>>;

/** The facts of evidence, each as text; all of them empty for a user who is gone. */
export function factsOf(evidence: Evidence | undefined): Facts {
  if (evidence === undefined) return Object.fromEntries(FACT_COLUMNS.map((name) => [name, ""])) as Facts;
  const { full_name, email, company, supervisor, purpose, status, expire_at, created_at, created_by } = evidence;
  const { hours = "", profile = "", keys, extended_at, extended_by, extended_because } = evidence;
  const last = keys.reduce<Evidence["keys"][number] | undefined>((latest, key) => {
    return (key.last_used_at ?? "") > (latest?.last_used_at ?? "") ? key : latest;
  }, undefined);
  return {
    ...{ full_name, email, company, supervisor, purpose, status, expire_at, hours, profile },
    hosts: evidence.hosts.join(", "),
    groups: evidence.groups.join(", "),
    source_networks: evidence.source_networks.join(", "),
    keys: keys.map(keyWords).join("; "),
    last_key_use: last?.last_used_at ?? "",
    last_key_use_from: last?.last_used_from ?? "",
    last_login_at: evidence.last_login_at ?? "",
    logins: String(evidence.logins),
    logins_since: evidence.logins_since,
    ...{ created_at, created_by, extended_at: extended_at ?? "", extended_by, extended_because },
    drift: evidence.drift.join("; "),
  };
}

/** For example "laptop SHA256:…, used 2026-11-20T08:00:00.000Z from 192.0.2.7". */
function keyWords({ name, fingerprint, last_used_at: at, last_used_from: from }: Evidence["keys"][number]): string {
  const used = at === null ? "no use known" : `used ${at}${from === "" ? "" : ` from ${from}`}`;
  return `${name} ${fingerprint}, ${used}`;
}
