/** uam audit follow: audit records as they are written. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { integer } from "@optique/core/valueparser";
import { printableJson, replaceUnprintable } from "../../../shared/text/text.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { type Command, commandLog, EXIT, loadConfig, stopSignal } from "../../terminal/environment.ts";

/** Records that are read at once. */
const BATCH = 500;

export const auditFollowCommand = command(
  "follow",
  map(
    object({
      since: optional(
        option("--since", integer({ min: 1, metavar: "ID" }), {
          description: message`Begin with the record of this number. Without this, with the next one.`,
        }),
      ),
      json: jsonFlag(),
    }),
    (input) => runFollow(input),
  ),
  {
    brief: message`Print audit records as they are written, until stopped.`,
    description: message`Prints each record once, in their order: a line of text, or with --json a line of JSON in the shape of the API's records. Ctrl-C ends it.`,
  },
);

interface FollowInput {
  readonly since: number | undefined;
  readonly json: boolean;
}

function runFollow({ since, json }: FollowInput): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    const log = await commandLog(environment, config, true);
    const { openDatabaseToLook } = await import("../../../server/compose.ts");
    const { followRecords } = await import("../../../domain/audit/follow.ts");
    const { readHead } = await import("../../../domain/events/head.ts");
    const { auditRecord } = await import("../../../server/audit-records.ts");
    const signal = stopSignal(environment);
    const { db, close } = await openDatabaseToLook(config, log);
    try {
      const after = since === undefined ? await readHead(db) : since - 1;
      const show = json ? (record: AuditRecord) => printableJson(record) : lineOf;
      const encoder = new TextEncoder();
      const records = followRecords({ db, log }, { after, limit: BATCH }, signal);
      const lines = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { value, done } = await records.next();
          if (done === true) return controller.close();
          controller.enqueue(encoder.encode(value.map((row) => `${show(auditRecord(row))}\n`).join("")));
        },
        cancel: async () => void (await records.return()),
      });
      await environment.outStream(lines);
      await records.return();
    } finally {
      await close();
    }
    return EXIT.done;
  };
}

type AuditRecord = ReturnType<typeof import("../../../server/audit-records.ts").auditRecord>;

function lineOf(record: AuditRecord): string {
  const about = [record.resource_type, record.resource_id].filter(Boolean).join(" ") || "-";
  const who = `${record.actor_type}:${record.actor}`;
  const parts = [
    record.id,
    record.created_at,
    who,
    record.action,
    about,
    record.result,
    record.ip || "-",
    record.detail,
  ];
  return replaceUnprintable(parts.join("  "), () => "\uFFFD");
}
