/** A company, printed. */

import type { CliEnvironment } from "../../terminal/environment.ts";
import { printJson, printRecord } from "../../terminal/output.ts";

export type CompanyRecord = ReturnType<typeof import("../../../server/company-records.ts").companyRecord>;

/** Prints a company: as JSON, or a line for each field. */
export async function printCompany(environment: CliEnvironment, record: CompanyRecord, json: boolean): Promise<void> {
  if (json) return printJson(environment, record);
  const { formatHours } = await import("../../../shared/hours/text.ts");
  const lists = { source_networks: record.source_networks.join(" "), host_groups: record.host_groups.join(" ") };
  printRecord(environment, {
    ...record,
    ...lists,
    hours: record.hours === null ? "always" : formatHours(record.hours),
  });
}
