/** uam audit: the audit log. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { choice } from "@optique/core/valueparser";
import type { AuditFilter } from "../domain/audit/audit.ts";
import { AUDIT_ACTIONS, RESOURCE_TYPES } from "../domain/operation/audit-actions.ts";
import { jsonFlag, noteRest, pageOptions, periodOptions, textOption } from "./arguments.ts";
import { exportCommand } from "./audit-export.ts";
import { auditVerifyCommand } from "./audit-verify.ts";
import { type Command, EXIT, withServices } from "./environment.ts";
import { type Column, printJson, printTable, shortTime } from "./output.ts";

const list = command(
  "list",
  map(
    object({
      ...pageOptions(),
      ...periodOptions(),
      actor: textOption("--actor", "NAME", message`Only what this actor did.`),
      action: optional(
        option("--action", choice(AUDIT_ACTIONS, { metavar: "ACTION" }), {
          description: message`Only this action, such as user.create.`,
        }),
      ),
      resourceType: optional(
        option("--resource-type", choice(RESOURCE_TYPES, { metavar: "TYPE" }), {
          description: message`Only this kind of resource.`,
        }),
      ),
      resourceId: textOption("--resource-id", "ID", message`Only this resource.`),
      json: jsonFlag(),
    }),
    (input) => runList(input),
  ),
  { brief: message`List audit records, newest first.` },
);

export const auditCommand = command("audit", or(list, exportCommand, auditVerifyCommand), {
  brief: message`Read, export and verify the audit log.`,
});

interface ListInput extends AuditFilter {
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

type AuditRecord = ReturnType<typeof import("../server/records.ts").auditRecord>;

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
  { header: "DETAIL", value: (record) => record.detail, narrow: "cut" },
];

function runList(input: ListInput): Command {
  return async (environment) => {
    const { listAudit } = await import("../domain/audit/audit.ts");
    const { auditRecord } = await import("../server/records.ts");
    const { total, items } = await withServices(environment, "read", (context) => listAudit(context, input, input));
    const records = items.map(auditRecord);
    if (input.json) printJson(environment, { total, items: records });
    else {
      await printTable(environment, COLUMNS, records);
      noteRest(environment, input, total);
    }
    return EXIT.done;
  };
}
