/** What is given of a company, checked; and how records of the audit log say it. */

import { UamError } from "../../shared/errors.ts";
import { checkHours, type Hours, limits } from "../../shared/hours/hours.ts";
import { formatHours } from "../../shared/hours/text.ts";
import { parseNetworks } from "../../shared/net/networks.ts";
import { MAX_COMPANY_NAME, MOST_COMPANY_USERS } from "../../shared/product/limits.ts";
import { requireText } from "../../shared/text/text.ts";
import { MAX_DAYS } from "../../shared/time/duration.ts";
import { formatOptionalTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import type { CompanyRow } from "../../store/schema-companies.ts";
import { lockFleet, namedGroups } from "../hosts/find-host.ts";
import type { Context } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { parseSponsor } from "../sponsors/sponsor-email.ts";

/** What is changed of a company; null, an empty text and an empty list lift a limit. */
export interface CompanyChanges {
  readonly name?: string | undefined;
  /** No user's end lies after it. */
  readonly contractEnd?: Date | null | undefined;
  readonly maxUsers?: number | null | undefined;
  /** How many days ahead a user's end may lie when it is set. */
  readonly maxTtlDays?: number | null | undefined;
  /** CIDRs. */
  readonly sourceNetworks?: readonly string[] | undefined;
  /** Names of groups of hosts. */
  readonly hostGroups?: readonly string[] | undefined;
  /** The hours of the week in which access of its users is open. */
  readonly hours?: Hours | null | undefined;
  readonly sponsorEmail?: string | undefined;
}

/** The columns of a company that can be changed. */
export type CompanyFields = Partial<
  Pick<
    CompanyRow,
    "name" | "contractEnd" | "maxUsers" | "maxTtlDays" | "sourceNetworks" | "hostGroups" | "hours" | "sponsorEmail"
  >
>;

/** Columns, and the names of the groups. */
export interface ParsedCompany {
  readonly row: CompanyFields;
  readonly groups: readonly string[];
}

/** Has groups of hosts that are named stay until the transaction ends. */
export async function lockGroups(tx: Transaction, { hostGroups }: CompanyChanges): Promise<void> {
  if (hostGroups !== undefined) await lockFleet(tx);
}

/** Checks what is given; throws `invalid`. */
export async function parseCompany(
  { policy }: Pick<Context, "policy">,
  db: Database | Transaction,
  input: CompanyChanges,
): Promise<ParsedCompany> {
  const { name, contractEnd, maxUsers, maxTtlDays, sourceNetworks, hostGroups, hours, sponsorEmail } = input;
  const groups = hostGroups === undefined ? [] : await namedGroups(db, [...new Set(hostGroups)]);
  const row = {
    ...(name === undefined ? {} : { name: requireText("name", name, MAX_COMPANY_NAME) }),
    ...(contractEnd === undefined ? {} : { contractEnd }),
    ...(maxUsers === undefined ? {} : { maxUsers: limitOf("max_users", maxUsers, MOST_COMPANY_USERS) }),
    ...(maxTtlDays === undefined ? {} : { maxTtlDays: limitOf("max_ttl_days", maxTtlDays, MAX_DAYS) }),
    ...(sourceNetworks === undefined ? {} : { sourceNetworks: [...parseNetworks(sourceNetworks)] }),
    ...(hostGroups === undefined ? {} : { hostGroups: groups.map(({ id }) => id) }),
    ...(hours === undefined ? {} : { hours: limits(hours) ? formatHours(checkHours(hours)) : null }),
    ...(sponsorEmail === undefined ? {} : { sponsorEmail: parseSponsor(policy.sponsor, { sponsorEmail }) }),
  };
  return { row, groups: groups.map((group) => group.name) };
}

/** The detail of a record: what is limited. */
export function limitsDetail(fields: CompanyFields, groups: readonly string[]): AuditDetail {
  const given = Object.entries(detailOf(fields, groups)).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(given);
}

/** The detail of a record: what is changed, and what it was. */
export function changedDetail({
  before,
  fields,
  groups,
  oldGroups,
}: {
  readonly before: CompanyRow;
  readonly fields: CompanyFields;
  readonly groups: readonly string[];
  readonly oldGroups: readonly string[];
}): AuditDetail {
  const { name, ...others } = detailOf(fields, groups);
  const was = detailOf(before, oldGroups);
  const old = Object.keys(others).map((field) => [`old_${field}`, was[field] ?? null]);
  return { ...(name === undefined ? {} : { new_name: name }), ...others, ...Object.fromEntries(old) };
}

function detailOf(fields: CompanyFields, groups: readonly string[]): AuditDetail {
  const { name, contractEnd, maxUsers, maxTtlDays, sourceNetworks, hostGroups, hours, sponsorEmail } = fields;
  return {
    ...(name === undefined ? {} : { name }),
    ...(contractEnd === undefined ? {} : { contract_end: formatOptionalTimestamp(contractEnd) }),
    ...(maxUsers === undefined ? {} : { max_users: maxUsers }),
    ...(maxTtlDays === undefined ? {} : { max_ttl_days: maxTtlDays }),
    ...(sourceNetworks === undefined ? {} : { source_networks: sourceNetworks.join(", ") }),
    ...(hostGroups === undefined ? {} : { host_groups: groups.join(", ") }),
    ...(hours === undefined ? {} : { hours: hours ?? "" }),
    ...(sponsorEmail === undefined ? {} : { sponsor_email: sponsorEmail }),
  };
}

function limitOf(field: string, value: number | null, most: number): number | null {
  if (value === null) return null;
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new UamError("invalid", `${field} must be a whole number from 1 to ${most}, or null`);
}
