/** Companies as the records that the API and the command line show. */

import type { Company } from "../domain/companies/companies.ts";
import type { Ending } from "../domain/companies/ending.ts";
import type { CompanyPreview } from "../domain/companies/preview.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";

export function companyRecord({ row, hostGroups, users, isNarrowing }: Company) {
  return {
    id: row.id,
    name: row.name,
    contract_end: formatOptionalTimestamp(row.contractEnd),
    max_users: row.maxUsers,
    max_ttl_days: row.maxTtlDays,
    source_networks: [...row.sourceNetworks],
    host_groups: [...hostGroups],
    sponsor_email: row.sponsorEmail,
    status: row.status,
    users,
    narrowing: isNarrowing,
    created_at: formatTimestamp(row.createdAt),
    updated_at: formatTimestamp(row.updatedAt),
  };
}

export function endingRecord({ status, users, effectiveBy }: Ending) {
  return { status, users: { ...users }, effective_by: formatOptionalTimestamp(effectiveBy) };
}

export function companyPreviewRecord({ effects, host, users }: CompanyPreview) {
  return { preview: true as const, effects: [...effects], host: [...host], users };
}
