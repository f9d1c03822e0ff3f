/** uam access: access on request, allowed, refused and ended; and who could log in at a moment of the past. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { systemClock } from "../../../shared/time/clock.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../../../shared/time/timestamp.ts";
import { jsonFlag, moment, textOption } from "../../terminal/arguments.ts";
import { stored } from "../../terminal/completion.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { writeOut } from "../../terminal/new-file.ts";
import { type Column, printJson, printTable } from "../../terminal/output.ts";
import { allowCommand, endCommand, refuseCommand } from "../users/access-on-request.ts";

const past = map(
  object({
    at: option("--at", moment("end"), {
      description: message`At this time: RFC 3339, a date (its end, UTC), or how long ago, such as 30d.`,
    }),
    host: optional(
      option("--host", stored("NAME", "hosts"), {
        description: message`Only this host, by the name that it had then.`,
      }),
    ),
    company: optional(
      option("--company", stored("NAME", "companies"), {
        description: message`Only users of this company, by the name that it had then.`,
      }),
    ),
    output: textOption("--output", "FILE", message`Write CSV to this new file, which only you can read.`),
    json: jsonFlag(),
  }),
  (input) => runAccess(input),
);

export const accessCommand = command("access", or(past, allowCommand, refuseCommand, endCommand), {
  brief: message`Allow, refuse or end access on request; or show who could log in at a moment of the past.`,
  description: message`With --at it tells from the audit log alone which accounts could be logged in to, on which hosts, until when, with which keys, and by whose decision. Says if the log does not reach back far enough.`,
});

interface Input {
  readonly at: Date;
  readonly host: string | undefined;
  readonly company: string | undefined;
  readonly output: string | undefined;
  readonly json: boolean;
}

type AccessRecord = ReturnType<typeof import("../../../server/audit-records.ts").accessRecord>;

const COLUMNS: readonly Column<AccessRecord>[] = [
  { header: "USER", value: ({ username }) => username },
  { header: "HOST", value: ({ host }) => host },
  { header: "UNTIL", value: ({ until }) => until },
  { header: "BY", value: ({ decided_by }) => decided_by, narrow: "cut" },
  { header: "PROFILE", value: ({ profile }) => profile || "-", narrow: "below" },
  { header: "KEYS", value: ({ fingerprints }) => fingerprints.join(" "), narrow: "below" },
];

function runAccess({ at, host, company, output, json }: Input): Command {
  return async (environment) => {
    if (at > systemClock.now()) {
      const said = `uam: --at lies in the future (${formatTimestamp(at)}): a date alone means its end, in UTC`;
      environment.err(`${said}. For now, say --at 1s.\n`);
      return EXIT.usage;
    }
    const { pastAccessAt } = await import("../../../domain/access/past-access.ts");
    const { accessCsv } = await import("../../../domain/access/access-csv.ts");
    const { createExportPlaces } = await import("../../../domain/exports/places.ts");
    const { accessRecord } = await import("../../../server/audit-records.ts");
    const { items, completeFrom, unknown } = await withServices(environment, "read", (context) =>
      pastAccessAt(context, { at, host, company }, createExportPlaces(1)),
    );
    const records = items.map(accessRecord);
    if (output !== undefined) await writeOut(environment, output, new Blob([accessCsv(items)]).stream());
    else if (json) {
      const complete_from = formatOptionalTimestamp(completeFrom);
      printJson(environment, {
        at: formatTimestamp(at),
        total: records.length,
        items: records,
        complete_from,
        unknown,
      });
    } else await printTable(environment, COLUMNS, records);
    if (unknown > 0) environment.err(lacking(unknown));
    return EXIT.done;
  };
}

function lacking(unknown: number): string {
  const users = unknown === 1 ? "1 user who was" : `${unknown} users who were`;
  return `The log does not reach back far enough: ${users} created before its oldest record may be missing.\n`;
}
