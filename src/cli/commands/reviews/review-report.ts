/** uam review report and verify: a review as a file, and whether such a file says what the log says. */

import { readFile } from "node:fs/promises";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, withDefault } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { integer, string } from "@optique/core/valueparser";
import { UamError } from "../../../shared/errors.ts";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag, oneOf } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { printJson, visible } from "../../terminal/output.ts";

const FORMATS = ["csv", "json"] as const;
/** Faults that are printed. */
const MOST = 20;
/** Bytes; a report of all users that a service can have is smaller. */
const LARGEST = 512 * 1024 * 1024;

export const report = command(
  "report",
  map(
    object({
      review: argument(integer({ min: 1, metavar: "REVIEW" }), { description: message`The review's number.` }),
      format: withDefault(
        option("--format", oneOf(FORMATS, "FORMAT"), { description: message`csv (the default) or json.` }),
        "csv" as const,
      ),
    }),
    runReport,
  ),
  {
    brief: message`Print a review as a file for an auditor.`,
    description: message`Each user with the evidence as it was when answered, who answered, when, from where and why, with the ids of the records and the log's head.`,
  },
);

export const verify = command(
  "verify",
  map(
    object({
      file: argument(string({ metavar: "FILE" }), { description: message`The report, CSV or JSON.` }),
      json: jsonFlag(),
    }),
    runVerify,
  ),
  {
    brief: message`Check the report of a review against the audit log.`,
    description: message`Checks the log itself, that the report has every user of the review and nobody else, and that each answer and the evidence are those on record. Exits with 1 if anything differs.`,
  },
);

function runReport({
  review,
  format,
}: {
  readonly review: number;
  readonly format: (typeof FORMATS)[number];
}): Command {
  return async (environment) => {
    const { reportReview } = await import("../../../domain/reviews/report.ts");
    const { reportCsv, reportRecord } = await import("../../../server/review-records.ts");
    const found = await withServices(environment, "read", (context) => reportReview(context, review));
    if (format === "csv") environment.out(reportCsv(found));
    else environment.out(`${JSON.stringify(reportRecord(found), null, 2)}\n`);
    return EXIT.done;
  };
}

function runVerify({ file, json }: { readonly file: string; readonly json: boolean }): Command {
  return async (environment) => {
    const { verifyReport } = await import("../../../domain/reviews/verify.ts");
    const text = await readText(file);
    const { review, isClosed, users, faults } = await withServices(environment, "read", (context) =>
      verifyReport(context, text),
    );
    if (json) printJson(environment, { ok: faults.length === 0, review, closed: isClosed, users, faults });
    else {
      for (const fault of faults.slice(0, MOST)) environment.out(`${visible(fault)}\n`);
      if (faults.length > MOST) environment.out(`And ${faults.length - MOST} more.\n`);
      const state = isClosed ? "closed" : "still open";
      const what = `Review ${review} (${state}), ${counted(users, "user")}`;
      environment.out(
        faults.length === 0
          ? `${what}: the report says what the audit log says.\n`
          : `${what}: the report differs from the audit log.\n`,
      );
    }
    return faults.length === 0 ? EXIT.done : EXIT.failed;
  };
}

async function readText(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > LARGEST) throw new UamError("invalid", `${file} is too large for a report`);
    return bytes.toString("utf8");
  } catch (error) {
    if (error instanceof UamError) throw error;
    throw new UamError("invalid", `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
