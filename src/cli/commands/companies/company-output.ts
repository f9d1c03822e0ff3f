/** A company, printed. */

import type { CliEnvironment } from "../../terminal/environment.ts";
import { printJson, printRecord } from "../../terminal/output.ts";

export type CompanyRecord = ReturnType<typeof import("../../../server/company-records.ts").companyRecord>;

/** Prints a company: as JSON, or a line for each field. */
export function printCompany(environment: CliEnvironment, record: CompanyRecord, json: boolean): void {
  const lists = { source_networks: record.source_networks.join(" "), host_groups: record.host_groups.join(" ") };
  if (json) printJson(environment, record);
  else printRecord(environment, { ...record, ...lists });
}
