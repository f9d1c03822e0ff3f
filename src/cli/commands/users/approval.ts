/** uam approval: applications for access, and users' requests. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { integer, string } from "@optique/core/valueparser";
import type { ApplicationFilter, Review } from "../../../domain/approvals/approvals.ts";
import { APPROVAL_KINDS, APPROVAL_STATUSES } from "../../../shared/product/statuses.ts";
import { daysOption, jsonFlag, oneOf, pageOptions, textOption } from "../../terminal/arguments.ts";
import { belongingOf, companyOption, sponsorOption } from "../../terminal/company-options.ts";
import { offering } from "../../terminal/completion.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printPage, printRecord, shortTime } from "../../terminal/output.ts";
import { profileOption } from "../../terminal/profile-options.ts";
import { hoursOption, startOption, timesOf } from "./user-hours.ts";

const list = command(
  "list",
  map(
    object({
      ...pageOptions(),
      status: optional(
        option("--status", oneOf(APPROVAL_STATUSES, "STATUS"), {
          description: message`Only applications with this status.`,
        }),
      ),
      kind: optional(
        option("--kind", oneOf(APPROVAL_KINDS, "KIND"), {
          description: message`Only applications for access, only requests for more time (extension), or only for access on request (access_request).`,
        }),
      ),
      json: jsonFlag(),
    }),
    (input) => runList(input),
  ),
  { brief: message`List applications and users' requests, newest first.` },
);

const id = argument(offering(integer({ min: 1, metavar: "ID" }), "applications"), {
  description: message`The application's id, as uam approval list shows it.`,
});

const approve = command(
  "approve",
  map(
    object({
      id,
      reason: textOption("--reason", "TEXT", message`A note on the decision, kept with the application.`),
      ttlDays: daysOption(
        "--ttl-days",
        message`Days until the account expires, policy.default_ttl by default; or by how many it is extended, by default those asked for.`,
      ),
      company: companyOption(),
      sponsorEmail: sponsorOption(),
      from: startOption(),
      hours: hoursOption(),
      profile: profileOption(
        message`The profile that says what the new user may do; "none" for whatever the host lets any account do.`,
      ),
      noUser: option("--no-user", {
        description: message`Approve an application for access without creating the user.`,
      }),
      json: jsonFlag(),
    }),
    ({ id, json, noUser, ...review }) =>
      runReview(id, { ...review, approve: true, ...(noUser ? { createUser: false } : {}) }, json),
  ),
  {
    brief: message`Approve an application and create the user, or give a user what they ask for.`,
    description: message`Approves the application, creates the user and the host account, with the company, sponsor, start, hours and profile that are given, extends the user who asks for more time, or opens the access of the user who asks for it, and mails the applicant. If that fails, the application stays pending.`,
  },
);

const reject = command(
  "reject",
  map(
    object({
      id,
      reason: option("--reason", string({ metavar: "TEXT" }), {
        description: message`The reason; it is mailed to the applicant.`,
      }),
      json: jsonFlag(),
    }),
    ({ id, reason, json }) => runReview(id, { approve: false, reason }, json),
  ),
  { brief: message`Reject an application, with a reason.` },
);

export const approvalCommand = command("approval", or(list, approve, reject), {
  brief: message`Review applications for access and users' requests.`,
});

type ApplicationRecord = ReturnType<typeof import("../../../server/records.ts").applicationRecord>;

const COLUMNS: readonly Column<ApplicationRecord>[] = [
  { header: "ID", value: (application) => application.id },
  { header: "USERNAME", value: (application) => application.username },
  { header: "KIND", value: kindOf },
  { header: "STATUS", value: (application) => application.status },
  { header: "CREATED", value: (application) => shortTime(application.created_at) },
  { header: "EMAIL", value: (application) => application.email, narrow: "cut" },
  { header: "SUPERVISOR", value: (application) => application.supervisor || "-", narrow: "either" },
  {
    header: "SPONSOR",
    value: ({ sponsor_email: email, sponsor_answer: answer }) => (email === "" ? "-" : `${email}, ${answer}`),
    narrow: "either",
  },
  { header: "PURPOSE", value: (application) => application.purpose || "-", narrow: "either" },
  { header: "REVIEWED BY", value: (application) => application.reviewed_by || "-", narrow: "drop" },
];

function kindOf({ kind, days, hours, hosts }: ApplicationRecord): string {
  if (days !== null) return `${kind}, ${days}d`;
  return hours === null ? kind : `${kind}, ${hours}h${hosts === null ? "" : `, ${hosts.join(" ")}`}`;
}

interface ListInput extends ApplicationFilter {
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

function runList(input: ListInput): Command {
  return async (environment) => {
    const { listApplications } = await import("../../../domain/approvals/approvals.ts");
    const { applicationRecord } = await import("../../../server/records.ts");
    const { total, items } = await withServices(environment, "read", (context) =>
      listApplications(context, input, input),
    );
    const records = items.map(applicationRecord);
    await printPage(environment, COLUMNS, { ...input, total, records });
    return EXIT.done;
  };
}

interface GivenReview extends Omit<Review, "companyId" | "startsAt" | "hours"> {
  readonly company?: string | undefined;
  readonly from?: string | undefined;
  readonly hours?: string | undefined;
}

function runReview(id: number, { company, from, hours, ...given }: GivenReview, json: boolean): Command {
  return async (environment) => {
    const times = await timesOf({ from, hours });
    const { reviewApplication } = await import("../../../domain/approvals/approvals.ts");
    const { applicationRecord } = await import("../../../server/records.ts");
    const reviewed = await withServices(environment, "change", async (context) => {
      const { companyId } = await belongingOf(context, { company, manager: undefined });
      return await reviewApplication(context, id, { ...given, ...times, companyId });
    });
    if (json) printJson(environment, applicationRecord(reviewed));
    else printRecord(environment, applicationRecord(reviewed));
    return EXIT.done;
  };
}
