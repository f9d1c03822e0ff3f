/** uam user extend: more time for one user, or for several. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { Context } from "../../../domain/operation/context.ts";
import { counted } from "../../../shared/text/counted.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import { daysOption, jsonFlag, reasonOption } from "../../terminal/arguments.ts";
import type { Command } from "../../terminal/environment.ts";
import { previewFlag, previewUser } from "../../terminal/preview.ts";
import { shellWord } from "../../terminal/shell-word.ts";
import { onlyName, type Selection, selectionFault, selectionOptions } from "../../terminal/user-selection.ts";
import { yesFlag } from "./confirmed.ts";
import { changeSeveral, previewSeveral, refused } from "./several.ts";
import { withUser } from "./shown-user.ts";

export const extendCommand = command(
  "extend",
  map(
    object({
      ...selectionOptions(),
      days: daysOption("--days", message`How many days; for one user the default is policy.default_ttl.`),
      reason: reasonOption(),
      yes: yesFlag(),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    ({ preview, days, reason, yes, json, ...selection }) => run({ selection, preview, days, reason, yes, json }),
  ),
  {
    brief: message`Extend the access of one user, or of several.`,
    description: message`Moves the expiry to DAYS after now or after the current expiry, whichever is later. For several users, by NAMEs or by a filter, it needs --days, and asks once, unless --yes is given; with --json it prints a line for each user. Exits with 1 if somebody was not extended, or if nobody matches.`,
  },
);

interface Input {
  readonly selection: Selection;
  readonly preview: boolean;
  readonly days: number | undefined;
  readonly reason: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
}

function run(input: Input): Command {
  const { selection, preview, reason, json } = input;
  const user = onlyName(selection);
  if (user === undefined) return runSeveral(input);
  const days = input.days ?? 0;
  if (preview) return previewUser({ user, json }, (context, { id }) => previewOf(context, id, { days, reason }));
  return withUser("change", user, json, async (context, { id }) => {
    const { extendUser } = await import("../../../domain/users/extend.ts");
    return await extendUser(context, id, days, { reason });
  });
}

function runSeveral({ days, preview, ...input }: Input): Command {
  const { selection, reason } = input;
  if (days === undefined) return refused(selectionFault(selection) ?? meantDays(selection.names));
  const change = {
    ...input,
    words: { verb: "extend", done: "extended", doing: "Extending" },
    how: ` by ${counted(days, "day")}`,
    make: async (context, { id }, options) => {
      const { extendUser } = await import("../../../domain/users/extend.ts");
      const { userRecord } = await import("../../../server/records.ts");
      const user = await extendUser(context, id, days, options);
      return { record: userRecord(user, context.clock.now()), note: ` until ${formatTimestamp(user.expireAt)}` };
    },
    preview: (context, { id }) => previewOf(context, id, { days, reason }),
    closes: false,
  } as const satisfies Parameters<typeof changeSeveral>[0];
  return preview ? previewSeveral(change) : changeSeveral(change);
}

const NO_DAYS = "Say by how much: --days DAYS.";

/** `extend jensen 14`: the number is not taken for a user's id. */
function meantDays(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  if (!/^\d{1,4}$/.test(last)) return NO_DAYS;
  return `${NO_DAYS} Did you mean "uam user extend ${names.slice(0, -1).map(shellWord).join(" ")} --days ${last}"?`;
}

async function previewOf(
  context: Context,
  id: number,
  { days, reason }: { readonly days: number; readonly reason: string | undefined },
) {
  const { previewExtend } = await import("../../../domain/users/preview.ts");
  return await previewExtend(context, id, { days }, reason);
}
