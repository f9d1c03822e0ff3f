/** uam audit: the audit log. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import type { AuditFilter } from "../../../domain/audit/audit.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { UamError } from "../../../shared/errors.ts";
import { AUDIT_ACTIONS, RESOURCE_TYPES } from "../../../shared/product/audit-actions.ts";
import { jsonFlag, oneOf, pageOptions, periodOptions, textOption } from "../../terminal/arguments.ts";
import { stored } from "../../terminal/completion.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printPage, shortTime } from "../../terminal/output.ts";
import { exportCommand } from "./audit-export.ts";
import { auditFollowCommand } from "./audit-follow.ts";
import { auditVerifyCommand } from "./audit-verify.ts";

const list = command(
  "list",
  map(
    object({
      ...pageOptions(),
      ...periodOptions(),
      user: optional(
        option("--user", stored("NAME", "users"), {
          description: message`Only what concerns this user; for one who was deleted, the id.`,
        }),
      ),
      actor: textOption("--actor", "NAME", message`Only what this actor did.`),
      action: optional(
        option("--action", oneOf(AUDIT_ACTIONS, "ACTION"), {
          description: message`Only this action, such as user.create.`,
        }),
      ),
      resourceType: optional(
        option("--resource-type", oneOf(RESOURCE_TYPES, "TYPE"), {
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

export const auditCommand = command("audit", or(list, auditFollowCommand, exportCommand, auditVerifyCommand), {
  brief: message`Read, follow, export and verify the audit log.`,
});

interface ListInput extends Omit<AuditFilter, "userId"> {
  readonly user: string | undefined;
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

type AuditRecord = ReturnType<typeof import("../../../server/records.ts").auditRecord>;

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
    const { listAudit } = await import("../../../domain/audit/audit.ts");
    const { auditRecord } = await import("../../../server/records.ts");
    const { total, items } = await withServices(environment, "read", async (context) => {
      const userId = input.user === undefined ? undefined : await userIdOf(context, input.user);
      return await listAudit(context, { ...input, userId }, input);
    });
    const records = items.map(auditRecord);
    await printPage(environment, COLUMNS, { ...input, total, records });
    return EXIT.done;
  };
}

/** The id of the user with that name or id; an id that no stored user has is a deleted user's. */
async function userIdOf(context: Context, reference: string): Promise<number> {
  const { findUserReferred } = await import("../../terminal/find-user.ts");
  const user = await findUserReferred(context, reference);
  if (user !== undefined) return user.id;
  if (/^\d{1,15}$/.test(reference)) return Number(reference);
  throw new UamError(
    "not_found",
    `There is no user named ${JSON.stringify(reference)}; give the id of a user who was deleted`,
  );
}
