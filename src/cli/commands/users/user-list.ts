/** uam user list: pages of external users. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import type { Context } from "../../../domain/operation/context.ts";
import type { UserFilter } from "../../../domain/users/list.ts";
import { ACCESS_STATES, TERMS, USER_STATUSES } from "../../../shared/product/statuses.ts";
import { USER_SORTS } from "../../../shared/product/user-sorts.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { durationText, jsonFlag, oneOf, pageOptions, textOption } from "../../terminal/arguments.ts";
import { ofCompanyOption } from "../../terminal/company-options.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printPage, shortTime } from "../../terminal/output.ts";

/** The filters of a list of users, and its order. */
export function filterOptions() {
  return {
    status: optional(
      option("--status", oneOf(USER_STATUSES, "STATUS"), {
        description: message`Only users with this status.`,
      }),
    ),
    access: optional(
      option("--access", oneOf(ACCESS_STATES, "ACCESS"), {
        description: message`Only users whose access is so now: outside_hours of the week, or on_request who have to ask first, say.`,
      }),
    ),
    supervisor: textOption("--supervisor", "NAME", message`Only users of this supervisor.`),
    search: textOption(
      "--search",
      "TEXT",
      message`Only users with this text in username, host account, e-mail, full name, supervisor or purpose, in any case.`,
    ),
    welcome: optional(
      option("--welcome", oneOf(["pending"], "PENDING"), {
        description: message`Only users who were not yet told of their account.`,
      }),
    ),
    terms: optional(
      option("--terms", oneOf(TERMS, "STATE"), {
        description: message`Only users who have not accepted the terms of use; overdue: though they were asked 14 days ago.`,
      }),
    ),
    lastUsed: optional(
      option("--last-used", oneOf(["never"], "NEVER"), {
        description: message`Only users who never logged in, to the service or by SSH, as far as it knows.`,
      }),
    ),
    silentFor: optional(
      option("--silent-for", durationText(), {
        description: message`Only users who did not log in for so long, such as 30d, to the service or by SSH, and are no newer than that.`,
      }),
    ),
    company: ofCompanyOption(),
    sponsor: textOption(
      "--sponsor",
      "ADDRESS",
      message`Only users for whom this address answers, themselves or for their company; "none": for whom nobody does.`,
    ),
    sort: optional(
      option("--sort", oneOf(USER_SORTS, "ORDER"), {
        description: message`The order; a minus sign turns it round, as in --sort=-expire_at. The default is newest first.`,
      }),
    ),
  };
}

/** The command. */
export const list = command(
  "list",
  map(object({ ...pageOptions(), ...filterOptions(), json: jsonFlag() }), (input) => runList(input)),
  { brief: message`List users, newest first.` },
);

/** A filter as the command line is given it. */
export interface GivenFilter extends UserFilter {
  /** By name or id. */
  readonly company?: string | undefined;
}

/** The filter, once its company is found. Throws `not_found` if there is none. */
export async function filterOf(context: Context, { company, ...filter }: GivenFilter): Promise<UserFilter> {
  if (company === undefined) return filter;
  const { idOfCompany } = await import("../../../domain/companies/companies.ts");
  return { ...filter, companyId: await idOfCompany(context, company) };
}

interface ListInput extends GivenFilter {
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

/** Lists the users that the filter finds. */
export function runList(input: ListInput): Command {
  return async (environment) => {
    const { listUsers } = await import("../../../domain/users/list.ts");
    const { listedUserRecord } = await import("../../../server/listed-user-record.ts");
    const { total, items } = await withServices(
      environment,
      "read",
      async (context) => await listUsers(context, await filterOf(context, input), input),
    );
    const now = systemClock.now();
    const records = items.map((user) => listedUserRecord(user, now));
    await printPage(environment, COLUMNS, { ...input, total, records });
    return EXIT.done;
  };
}

type ListedRecord = ReturnType<typeof import("../../../server/listed-user-record.ts").listedUserRecord>;

const COLUMNS: readonly Column<ListedRecord>[] = [
  { header: "ID", value: (user) => user.id },
  { header: "USERNAME", value: (user) => user.username },
  { header: "STATUS", value: statusOf },
  { header: "EXPIRES", value: (user) => shortTime(user.expire_at) },
  { header: "EMAIL", value: (user) => user.email, narrow: "cut" },
  { header: "SUPERVISOR", value: (user) => user.supervisor || "-", narrow: "either" },
  { header: "PURPOSE", value: (user) => user.purpose || "-", narrow: "either" },
];

/** With why an active user does not get in now. */
function statusOf({ status, access }: ListedRecord): string {
  return access === "open" || access === "closed" ? status : `${status}, ${access}`;
}
