/** Companies as the records that the API and the command line show. */

import type { Company } from "../domain/companies/companies.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";

export function companyRecord({ row, hostGroups, users }: Company) {
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
    created_at: formatTimestamp(row.createdAt),
    updated_at: formatTimestamp(row.updatedAt),
  };
}
