/** What a history reads in the details of audit records. */

type DetailName =
  | ("username" | "expire_at" | "status" | "fingerprint")
  | ("company" | "company_hours" | "starts_at" | "hours" | "on_request" | "until" | "allowed_until")
  | ("profile" | "means" | "second_factor" | "attestation")
  | ("hosts" | "groups" | "host" | "group" | "name" | "new_name" | "added" | "removed" | "for_new_users");

/** The detail of a record, as far as a history looks into it. */
export type Detail = Readonly<Partial<Record<DetailName, unknown>>>;

/** Empty where the record has no such text. */
export function textOf(detail: Detail, name: DetailName): string {
  const value = detail[name];
  return typeof value === "string" ? value : "";
}

/** Names of hosts or groups, which have no commas. */
export function namesIn(detail: Detail, name: DetailName): readonly string[] {
  return textOf(detail, name).split(", ").filter(Boolean);
}
