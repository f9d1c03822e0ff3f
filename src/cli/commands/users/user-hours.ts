/** uam user hours: when a user's access is open; and the options by which it is given. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { choice, string } from "@optique/core/valueparser";
import { parseOnRequest } from "../../../shared/hours/on-request.ts";
import { HOURS_ENDS } from "../../../shared/product/statuses.ts";
import { jsonFlag, textOption, userArgument } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { readHours } from "../../terminal/hours.ts";
import { parseMoment } from "../../terminal/moment.ts";
import { printJson, printTable, shortTime } from "../../terminal/output.ts";

/** `--from`, `--hours`, `--hours-end` and `--on-request`. */
export function timeOptions() {
  return {
    from: startOption(),
    hours: hoursOption(),
    hoursEnd: optional(
      option("--hours-end", choice(HOURS_ENDS), {
        description: message`What ends with the hours: "sessions", everything that runs (the default), or "logins", so that what is open stays until the end of the account.`,
      }),
    ),
    onRequest: optional(
      option("--on-request", string({ metavar: "RULE" }), {
        description: message`No access until the user asks, each time: who allows it (self, sponsor or review), and for how many hours at most, such as self:4h, or self:4h@web,db for hosts of these groups only; "none" if they need not ask.`,
      }),
    ),
  };
}

/** `--from`. */
export function startOption() {
  return textOption("--from", "TIME", message`When access begins: RFC 3339, or a date (its start, UTC).`);
}

/** `--hours`. */
export function hoursOption() {
  return optional(
    option("--hours", string({ metavar: "HOURS" }), {
      description: message`In which hours of the week access is open, such as "mon-fri 08:00-18:00 Europe/Berlin"; "always" for all.`,
    }),
  );
}

/** The times that the options give; nothing where they are not given. Throws `invalid` for what cannot be read. */
export async function timesOf({
  from,
  hours,
  onRequest,
}: {
  readonly from?: string | undefined;
  readonly hours?: string | undefined;
  readonly onRequest?: string | undefined;
}) {
  return {
    ...(from === undefined ? {} : { startsAt: parseMoment(from, "start", new Date(0)) }),
    ...(hours === undefined ? {} : { hours: await readHours(hours) }),
    ...(onRequest === undefined ? {} : { onRequest: onRequest === "none" ? null : parseOnRequest(onRequest) }),
  };
}

export const hoursCommand = command(
  "hours",
  map(
    object({
      user: userArgument(),
      host: textOption("--host", "HOST", message`Only when it is open on this host, within the hours of its groups.`),
      json: jsonFlag(),
    }),
    run,
  ),
  {
    brief: message`Show when a user's access is open.`,
    description: message`Shows the windows of the next 14 days, by start, end and hours of the week, in UTC.`,
  },
);

const FORTNIGHT = 14 * 24 * 60 * 60 * 1000;

interface HoursInput {
  readonly user: string;
  readonly host: string | undefined;
  readonly json: boolean;
}

function run({ user: reference, host, json }: HoursInput): Command {
  return async (environment) => {
    const { openingsBetween } = await import("../../../domain/accounts/access-state.ts");
    const { spansOnHost } = await import("../../../domain/hosts/group-hours.ts");
    const { hoursRecord } = await import("../../../server/hours-records.ts");
    const record = await withServices(environment, "read", async (context) => {
      const user = await requireUserReferred(context, reference);
      const now = context.clock.now();
      const to = new Date(now.getTime() + FORTNIGHT);
      const there =
        host === undefined ? openingsBetween(user, now, to) : await spansOnHost(context, host, { user, from: now, to });
      return { hours: user.hours, ...hoursRecord(user, there) };
    });
    if (json) printJson(environment, record);
    else {
      environment.out(`${record.hours ?? "always"}\n`);
      const columns = [
        { header: "OPEN FROM", value: ({ from }: { readonly from: string }) => shortTime(from) },
        { header: "UNTIL", value: ({ to }: { readonly to: string }) => shortTime(to) },
      ];
      await printTable(environment, columns, record.windows);
    }
    return EXIT.done;
  };
}
