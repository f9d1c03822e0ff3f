/** Prints one user after a command looked them up or changed them. */

import type { Context } from "../../../domain/operation/context.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import type { UserRow } from "../../../store/schema.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { printJson, printRecord } from "../../terminal/output.ts";

/** Looks the user up, does the work, and prints the user as it then is. */
export function withUser(
  purpose: "read" | "change",
  reference: string,
  json: boolean,
  work: (context: Context, user: UserRow) => Promise<UserRow>,
): Command {
  return async (environment) => {
    const user = await withServices(environment, purpose, async (context) =>
      work(context, await requireUserReferred(context, reference)),
    );
    return await printUser(environment, user, json);
  };
}

/** Prints the user in the shape of the API's records. */
export async function printUser(environment: CliEnvironment, user: UserRow, json: boolean): Promise<number> {
  if (json) {
    const { userRecord } = await import("../../../server/records.ts");
    printJson(environment, userRecord(user, systemClock.now()));
  } else await printUserFields(environment, user);
  return EXIT.done;
}

/** Prints the user for people: the API's record, with hours and requests in the words of their options, and with what `other` says instead. */
export async function printUserFields(
  environment: CliEnvironment,
  user: UserRow,
  other: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { userRecord } = await import("../../../server/records.ts");
  const { onRequestText } = await import("../../../server/hours-records.ts");
  const record = userRecord(user, systemClock.now());
  printRecord(environment, {
    ...record,
    hours: user.hours ?? "always",
    on_request: onRequestText(user) ?? "",
    ...other,
  });
}
