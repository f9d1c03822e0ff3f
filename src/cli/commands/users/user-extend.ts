/** uam user extend: another end for one user, or for several; an earlier one takes access away. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { Context } from "../../../domain/operation/context.ts";
import type { Wanted } from "../../../domain/users/changeable.ts";
import type { UserPreview } from "../../../domain/users/preview.ts";
import { counted } from "../../../shared/text/counted.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import type { UserRow } from "../../../store/schema.ts";
import { daysOption, endOption, jsonFlag, parseDays, reasonOption } from "../../terminal/arguments.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { parseEnd } from "../../terminal/moment.ts";
import { printJson, visible } from "../../terminal/output.ts";
import { previewFlag, previewUser } from "../../terminal/preview.ts";
import { shellWord } from "../../terminal/shell-word.ts";
import { onlyName, type Selection, selectionFault, selectionOptions } from "../../terminal/user-selection.ts";
import { yesFlag } from "./confirmed.ts";
import { awaitHostsOf, printHosts } from "./hosts-confirmed.ts";
import { changeSeveral, previewSeveral, refused } from "./several.ts";
import { printUserFields } from "./shown-user.ts";

export const extendCommand = command(
  "extend",
  map(
    object({
      ...selectionOptions(),
      days: daysOption("--days", message`How many days more.`),
      until: endOption("--until"),
      reason: reasonOption(),
      yes: yesFlag(),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    ({ preview, days, until, reason, yes, json, ...selection }) =>
      run({ selection, preview, days, until, reason, yes, json }),
  ),
  {
    brief: message`Extend the access of one user, or of several.`,
    description: message`Moves the end of access by DAYS from now or from the present end, whichever is later, or to a TIME. Without either it asks, for one user at a terminal. A TIME earlier than the present end takes access away from then on: it says what will happen and asks, unless --yes is given. For several users, by NAMEs or by a filter, it asks once, unless --yes is given; with --json it prints a line for each user. Exits with 1 if somebody was not extended, or if nobody matches.`,
  },
);

interface Input {
  readonly selection: Selection;
  readonly preview: boolean;
  readonly days: number | undefined;
  readonly until: Date | undefined;
  readonly reason: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
}

const BOTH = "Give --days or --until, not both.";
const NO_END = "Say by how much, or until when: --days DAYS, or --until TIME.";

function run(input: Input): Command {
  const { selection, preview, days, until, reason, json } = input;
  if (days !== undefined && until !== undefined) return refused(BOTH);
  const wanted = until === undefined ? days && { days } : { until };
  const user = onlyName(selection);
  if (user === undefined) return runSeveral(input, wanted || undefined);
  if (!preview) return extendOne(user, wanted || undefined, input);
  if (!wanted) return refused(NO_END);
  return previewUser({ user, json }, (context, { id }) => previewOf(context, id, { wanted, reason }));
}

/** Asks for the end that is not given, and whether an earlier one is meant; prints the user as they then are. */
function extendOne(reference: string, given: Wanted | undefined, { reason, yes, json }: Input): Command {
  return async (environment) => {
    if (given === undefined && environment.ask === undefined) return await refused(NO_END)(environment);
    return await withServices(environment, "change", async (context) => {
      const { isShortening } = await import("../../../domain/users/changeable.ts");
      const { moveEnd } = await import("../../../domain/users/extend.ts");
      const found = await requireUserReferred(context, reference);
      const wanted = given ?? (await askFor(environment, found));
      if (wanted === undefined) return unchanged(environment);
      const shorter = isShortening(context, found, wanted.until);
      if (shorter && !yes) {
        if (environment.ask === undefined)
          return await refused("Bringing an end forward needs --yes if there is no terminal to ask at.")(environment);
        const preview = await previewOf(context, found.id, { wanted, reason });
        if (!(await isMeant(environment, preview))) return unchanged(environment);
      }
      // Changes exactly the users that were shown.
      const unchangedSince = shorter ? found.updatedAt : undefined;
      const { user, isShorter } = await moveEnd(context, found.id, wanted, { reason, unchangedSince });
      const known = isShorter ? await awaitHostsOf(context, user.id) : undefined;
      const { hostsRecord, userRecord } = await import("../../../server/records.ts");
      if (json) printJson(environment, { ...userRecord(user, context.clock.now()), ...hostsRecord(known) });
      else await printUserFields(environment, user);
      if (!json) printHosts(environment, known);
      return EXIT.done;
    });
  };
}

/** Undefined for an empty answer. */
async function askFor({ ask, err }: CliEnvironment, user: UserRow): Promise<Wanted | undefined> {
  err(`The access of ${user.username} ends at ${formatTimestamp(user.expireAt)}.\n`);
  const answer = ((await ask?.("How many days more, or until when (2026-12-31, or RFC 3339)? ")) ?? "").trim();
  if (answer === "") return undefined;
  return /^\d{1,4}$/.test(answer) ? { days: parseDays(answer) } : { until: parseEnd(answer) };
}

async function isMeant({ ask, err }: CliEnvironment, { effects }: UserPreview): Promise<boolean> {
  for (const effect of effects) err(`${visible(effect)}\n`);
  return /^y(es)?$/i.test((await ask?.("Bring the end forward? [y/N] ")) ?? "");
}

function unchanged({ err }: CliEnvironment): number {
  err("Nothing was changed.\n");
  return EXIT.failed;
}

function runSeveral({ preview, ...input }: Input, wanted: Wanted | undefined): Command {
  const { selection, reason } = input;
  if (wanted === undefined) return refused(selectionFault(selection) ?? meantDays(selection.names));
  const { days, until } = wanted;
  const change = {
    ...input,
    words: { verb: "extend", done: "extended", doing: "Extending" },
    how:
      until === undefined
        ? ` by ${counted(days, "day")}`
        : ` until ${formatTimestamp(until)}, which takes the rest away from whoever has more`,
    make: async (context, { id }, options) => {
      const { moveEnd } = await import("../../../domain/users/extend.ts");
      const { userRecord } = await import("../../../server/records.ts");
      const { user } = await moveEnd(context, id, wanted, options);
      return { record: userRecord(user, context.clock.now()), note: ` until ${formatTimestamp(user.expireAt)}` };
    },
    preview: (context, { id }) => previewOf(context, id, { wanted, reason }),
    closes: until !== undefined,
  } as const satisfies Parameters<typeof changeSeveral>[0];
  return preview ? previewSeveral(change) : changeSeveral(change);
}

/** `extend jensen 14`: the number is not taken for a user's id. */
function meantDays(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  if (!/^\d{1,4}$/.test(last)) return NO_END;
  return `${NO_END} Did you mean "uam user extend ${names.slice(0, -1).map(shellWord).join(" ")} --days ${last}"?`;
}

async function previewOf(
  context: Context,
  id: number,
  { wanted, reason }: { readonly wanted: Wanted; readonly reason: string | undefined },
) {
  const { previewExtend } = await import("../../../domain/users/preview.ts");
  return await previewExtend(context, id, wanted, reason);
}
