/** uam sponsor: who answers for users. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag, pageOptions } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printPage, shortTime } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";

const list = command(
  "list",
  map(object({ ...pageOptions(), json: jsonFlag() }), (input) => runList(input)),
  {
    brief: message`List who answers for users, by address.`,
    description: message`Lists the addresses that answer for users or companies: for how many users, when they last answered anything, and whether mail to them was refused for good.`,
  },
);

const move = command(
  "move",
  map(
    object({
      from: argument(string({ metavar: "OLD" }), { description: message`The address that answers for them now.` }),
      to: argument(string({ metavar: "NEW" }), { description: message`The address that does from now on.` }),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    (input) => runMove(input),
  ),
  {
    brief: message`Give all people of one sponsor to another.`,
    description: message`Gives users, companies and pending applications of one address to another. The new sponsor is told by mail; links in earlier mails to the old one are dead.`,
  },
);

export const sponsorCommand = command("sponsor", or(list, move), { brief: message`Manage who answers for users.` });

type SponsorRecord = ReturnType<typeof import("../../../server/sponsor-records.ts").sponsorRecord>;

const COLUMNS: readonly Column<SponsorRecord>[] = [
  { header: "EMAIL", value: ({ email }) => email, narrow: "cut" },
  { header: "USERS", value: ({ users }) => users },
  { header: "LAST ANSWER", value: ({ last_answer_at: at }) => (at === null ? "-" : shortTime(at)) },
  { header: "MAIL", value: ({ undeliverable }) => (undeliverable ? "refused" : "ok") },
];

interface Listed {
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

function runList(input: Listed): Command {
  return async (environment) => {
    const { listSponsors } = await import("../../../domain/sponsors/sponsors.ts");
    const { sponsorRecord } = await import("../../../server/sponsor-records.ts");
    const { total, items } = await withServices(environment, "read", (context) => listSponsors(context, input));
    await printPage(environment, COLUMNS, { ...input, total, records: items.map(sponsorRecord) });
    return EXIT.done;
  };
}

interface Moved {
  readonly from: string;
  readonly to: string;
  readonly preview: boolean;
  readonly json: boolean;
}

function runMove({ preview, json, ...input }: Moved): Command {
  return async (environment) => {
    const { moveSponsor, previewMove } = await import("../../../domain/sponsors/moving.ts");
    if (preview) {
      const { movePreviewRecord } = await import("../../../server/sponsor-records.ts");
      const found = await withServices(environment, "read", (context) => previewMove(context, input));
      return printPreview(environment, movePreviewRecord(found), json);
    }
    const moved = await withServices(environment, "store", (context) => moveSponsor(context, input));
    if (json) printJson(environment, { moved });
    else environment.err(`${input.to} answers for ${counted(moved, "user")} of ${input.from} now.\n`);
    return EXIT.done;
  };
}
