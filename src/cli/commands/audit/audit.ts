/** uam audit: the audit log. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { jsonFlag, pageOptions } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printPage, shortTime } from "../../terminal/output.ts";
import { exportCommand } from "./audit-export.ts";
import { filterOf, filterOptions, type GivenFilter } from "./audit-filter.ts";
import { auditFollowCommand } from "./audit-follow.ts";
import { auditVerifyCommand } from "./audit-verify.ts";

const list = command(
  "list",
  map(object({ ...pageOptions(), ...filterOptions(), json: jsonFlag() }), (input) => runList(input)),
  { brief: message`List audit records, newest first.` },
);

export const auditCommand = command("audit", or(list, auditFollowCommand, exportCommand, auditVerifyCommand), {
  brief: message`Read, follow, export and verify the audit log.`,
});

interface ListInput extends GivenFilter {
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

type AuditRecord = ReturnType<typeof import("../../../server/audit-records.ts").auditRecord>;

const COLUMNS: readonly Column<AuditRecord>[] = [
  { header: "ID", value: (record) => record.id },
  { header: "TIME", value: (record) => shortTime(record.created_at) },
  { header: "ACTOR", value: (record) => `${record.actor_type}:${record.actor}`, narrow: "cut" },
  { header: "ACTION", value: (record) => record.action },
  {
    header: "RESOURCE",
    value: (record) => [record.resource_type, record.resource_id].filter(Boolean).join(" ") || "-",
    narrow: "cut",
  },
  { header: "RESULT", value: (record) => record.result },
  { header: "IP", value: (record) => record.ip || "-", narrow: "drop" },
  { header: "DETAIL", value: (record) => record.detail, narrow: "below" },
];

function runList(input: ListInput): Command {
  return async (environment) => {
    const { searchAudit } = await import("../../../domain/audit/search.ts");
    const { auditRecord, searchedRecord } = await import("../../../server/audit-records.ts");
    const { total, items, searched } = await withServices(environment, "read", async (context) =>
      searchAudit(context, await filterOf(context, input), input),
    );
    const records = items.map(auditRecord);
    await printPage(environment, COLUMNS, { ...input, total, records });
    if (searched?.isComplete === false) {
      const { records: looked, since } = searchedRecord(searched);
      environment.err(`Only the newest ${looked} records were looked through; --until ${since} looks further.\n`);
    }
    return EXIT.done;
  };
}
