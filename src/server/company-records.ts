/** Companies as the records that the API and the command line show. */

import { statusAt } from "../domain/accounts/find-user.ts";
import type { Company } from "../domain/companies/companies.ts";
import type { Ending } from "../domain/companies/ending.ts";
import type { CompanyPreview } from "../domain/companies/preview.ts";
import type { ListedUser } from "../domain/users/list.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import { weekRecord } from "./hours-records.ts";
import { hostsRecord } from "./records.ts";

export function companyRecord({ row, hostGroups, users, isNarrowing }: Company) {
  return {
    id: row.id,
    name: row.name,
    contract_end: formatOptionalTimestamp(row.contractEnd),
    max_users: row.maxUsers,
    max_ttl_days: row.maxTtlDays,
    source_networks: [...row.sourceNetworks],
    host_groups: [...hostGroups],
    hours: weekRecord(row),
    sponsor_email: row.sponsorEmail,
    status: row.status,
    users,
    narrowing: isNarrowing,
    created_at: formatTimestamp(row.createdAt),
    updated_at: formatTimestamp(row.updatedAt),
  };
}

/** A company as its managers see it. */
export function ownCompanyRecord({ row, users }: Company) {
  const { id, name, status, contractEnd, maxUsers } = row;
  return { id, name, status, contract_end: formatOptionalTimestamp(contractEnd), max_users: maxUsers, users };
}

/** A user as the managers of their company see them. */
export function colleagueRecord(user: ListedUser, now: Date) {
  return {
    id: user.id,
    username: user.username,
    full_name: user.fullName,
    manager: user.manager,
    status: statusAt(user, now),
    expire_at: formatTimestamp(user.expireAt),
    last_login_at: formatOptionalTimestamp(user.lastLoginAt),
    last_key_use_at: formatOptionalTimestamp(user.lastKeyUseAt),
  };
}

export function endingRecord({ status, users, effectiveBy, hosts }: Ending) {
  return {
    status,
    users: { ...users },
    effective_by: formatOptionalTimestamp(effectiveBy),
    ...hostsRecord(hosts),
  };
}

export function companyPreviewRecord({ effects, host, users }: CompanyPreview) {
  return { preview: true as const, effects: [...effects], host: [...host], users };
}
