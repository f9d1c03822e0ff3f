/** uam admin removed, uam admin readmit: those who came in by single sign-on and were removed here. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { integer } from "@optique/core/valueparser";
import { jsonFlag } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printTable, shortTime } from "../../terminal/output.ts";

export const removedCommand = command(
  "removed",
  map(object({ json: jsonFlag() }), (input) => runRemoved(input)),
  {
    brief: message`List who does not come in again by single sign-on.`,
    description: message`Lists the administrators who came in by single sign-on and were removed here: the provider's word does not let them in again until somebody does.`,
  },
);

export const readmitCommand = command(
  "readmit",
  map(
    object({
      id: argument(integer({ metavar: "ID", min: 1 }), {
        description: message`The number that "uam admin removed" shows.`,
      }),
    }),
    (input) => runReadmit(input),
  ),
  {
    brief: message`Let a removed administrator in again by single sign-on.`,
    description: message`Forgets that they were removed: their next login makes them an administrator again, with the role of their claims.`,
  },
);

interface RemovedEntry {
  readonly id: number;
  readonly username: string;
  readonly issuer: string;
  readonly subject: string;
  readonly created_at: string;
}

const COLUMNS: readonly Column<RemovedEntry>[] = [
  { header: "ID", value: (entry) => entry.id },
  { header: "USERNAME", value: (entry) => entry.username },
  { header: "SUBJECT", value: (entry) => entry.subject, narrow: "cut" },
  { header: "ISSUER", value: (entry) => entry.issuer, narrow: "cut" },
  { header: "CAME", value: (entry) => shortTime(entry.created_at), narrow: "drop" },
];

function runRemoved({ json }: { readonly json: boolean }): Command {
  return async (environment) => {
    const { listRemoved } = await import("../../../domain/auth/sso/removed.ts");
    const { removedRecord } = await import("../../../server/admin-records.ts");
    const items = (await withServices(environment, "read", listRemoved)).map(removedRecord);
    if (json) printJson(environment, { items });
    else await printTable(environment, COLUMNS, items);
    return EXIT.done;
  };
}

function runReadmit({ id }: { readonly id: number }): Command {
  return async (environment) => {
    const { readmit } = await import("../../../domain/auth/sso/removed.ts");
    const { username } = await withServices(environment, "store", (context) => readmit(context, id));
    environment.err(`${username} may come in again by single sign-on.\n`);
    return EXIT.done;
  };
}
