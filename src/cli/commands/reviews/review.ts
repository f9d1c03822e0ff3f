/** uam review: whether the access of each user is still right. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional, withDefault } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { integer } from "@optique/core/valueparser";
import type { Context } from "../../../domain/operation/context.ts";
import type { Review } from "../../../domain/reviews/reviews.ts";
import type { ReviewPreview, Scope } from "../../../domain/reviews/start.ts";
import { MOST_REVIEW_DAYS } from "../../../shared/product/limits.ts";
import { UNANSWERED_WAYS } from "../../../shared/product/statuses.ts";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag, oneOf, pageOptions, textOption } from "../../terminal/arguments.ts";
import { companyOption } from "../../terminal/company-options.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printPage, printRecord, shortTime } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";
import { yesFlag } from "../users/confirmed.ts";
import { answer } from "./review-answer.ts";
import { report, verify } from "./review-report.ts";

/** `REVIEW`: by its number. */
function reviewArgument() {
  return argument(integer({ min: 1, metavar: "REVIEW" }), { description: message`The review's number.` });
}

const start = command(
  "start",
  map(
    object({
      company: companyOption(),
      group: textOption("--group", "GROUP", message`Only users who have this group of hosts.`),
      sponsor: textOption("--sponsor", "ADDRESS", message`Only users for whom this person answers.`),
      days: withDefault(
        option("--days", integer({ min: 1, max: MOST_REVIEW_DAYS, metavar: "DAYS" }), {
          description: message`Days that there are to answer; the default is 14.`,
        }),
        14,
      ),
      unanswered: withDefault(
        option("--unanswered", oneOf(UNANSWERED_WAYS, "WAY"), {
          description: message`What happens on the day to whoever is not answered for: disable (the default), or report, which only lists them.`,
        }),
        "disable" as const,
      ),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    runStart,
  ),
  {
    brief: message`Begin a review of who has access.`,
    description: message`Is about everybody who has access at this moment, or about the users of a company, of a group of hosts, or of a sponsor. On its day, whoever is not answered for is disabled.`,
  },
);

const list = command(
  "list",
  map(object({ ...pageOptions(), json: jsonFlag() }), (input) => runList(input)),
  { brief: message`List reviews, newest first.` },
);

const show = command(
  "show",
  map(object({ review: reviewArgument(), ...pageOptions(), json: jsonFlag() }), (input) => runShow(input)),
  {
    brief: message`Show a review, and the users that it is about.`,
    description: message`Shows the review on standard error, and its users with their answers. With --json each user's evidence is there, too.`,
  },
);

const close = command(
  "close",
  map(
    object({
      review: reviewArgument(),
      unanswered: optional(
        option("--unanswered", oneOf(UNANSWERED_WAYS, "WAY"), {
          description: message`What happens to whoever is not answered for: disable, or report, which only lists them.`,
        }),
      ),
      yes: yesFlag(),
      json: jsonFlag(),
    }),
    runClose,
  ),
  {
    brief: message`Close a review before its day.`,
    description: message`A review closes by itself once everybody is answered for. Before that, --unanswered says what happens to the others; disabling them asks first, unless --yes is given.`,
  },
);

export const reviewCommand = command("review", or(start, list, show, answer, close, report, verify), {
  brief: message`Review who has access, and prove it.`,
});

type ReviewRecord = ReturnType<typeof import("../../../server/review-records.ts").reviewRecord>;
type ItemRecord = ReturnType<typeof import("../../../server/review-records.ts").reviewItemRecord>;

const COLUMNS: readonly Column<ReviewRecord>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "SCOPE", value: scopeWords, narrow: "cut" },
  { header: "STATUS", value: ({ status }) => status },
  { header: "BEGUN", value: ({ started_at: begun }) => shortTime(begun), narrow: "drop" },
  { header: "DUE", value: ({ due_at: due }) => shortTime(due) },
  { header: "CLOSED", value: ({ closed_at: closed }) => shortTime(closed), narrow: "drop" },
  { header: "USERS", value: ({ total }) => total },
  { header: "ENDED", value: ({ ended }) => ended, narrow: "drop" },
  { header: "UNANSWERED", value: ({ unanswered }) => unanswered },
];

const ITEMS: readonly Column<ItemRecord>[] = [
  { header: "ID", value: (item) => item.user_id, narrow: "drop" },
  { header: "NAME", value: ({ username }) => username },
  { header: "ANSWER", value: ({ answer: given }) => given ?? "-" },
  { header: "BY", value: ({ answered_by: by }) => (by === "" ? "-" : by), narrow: "cut" },
  { header: "EXPIRES", value: ({ evidence }) => shortTime(evidence?.expire_at ?? null), narrow: "drop" },
  { header: "LAST KEY USE", value: ({ evidence }) => lastUse(evidence), narrow: "drop" },
];

/** By the name that a company or a group had when the review began. */
function scopeWords({ scope, scope_name: name }: ReviewRecord): string {
  if (typeof scope === "string") return scope;
  const [[kind, value] = ["", ""]] = Object.entries(scope);
  return `${kind.replace("_", " ")} ${name === "" ? value : name}`;
}

function lastUse(evidence: ItemRecord["evidence"]): string {
  const uses = (evidence?.keys ?? []).flatMap(({ last_used_at: at }) => at ?? []);
  return shortTime(uses.sort().at(-1) ?? null);
}

/** Loaded only where it is used: help and completion must answer at once. */
function load() {
  return import("../../../domain/reviews/reviews.ts");
}

interface Started {
  readonly company: string | undefined;
  readonly group: string | undefined;
  readonly sponsor: string | undefined;
  readonly days: number;
  readonly unanswered: (typeof UNANSWERED_WAYS)[number];
  readonly preview: boolean;
  readonly json: boolean;
}

function runStart({ company, group, sponsor, days, unanswered, preview, json }: Started): Command {
  return async (environment) => {
    if ([company, group, sponsor].filter((given) => given !== undefined).length > 1) {
      environment.err("uam: Give one of --company, --group and --sponsor.\n");
      return EXIT.usage;
    }
    const { previewReview, startReview } = await import("../../../domain/reviews/start.ts");
    if (preview) {
      const found = await withServices(environment, "read", async (context) =>
        previewReview(context, await scopeOf(context, { company, group, sponsor })),
      );
      if (!json) return printPreview(environment, { effects: effectsOf(found), host: [] }, json);
      printJson(environment, found);
      return EXIT.done;
    }
    const started = await withServices(environment, "store", async (context) =>
      startReview(context, {
        scope: await scopeOf(context, { company, group, sponsor }),
        dueDays: days,
        unanswered,
      }),
    );
    return await print(environment, started, json);
  };
}

function effectsOf({ total, sponsors, sponsored }: ReviewPreview): readonly string[] {
  if (total === 0) return ["Nobody whom the review would be about has access."];
  return [
    `The review would be about ${counted(total, "user")}.`,
    ...(sponsored > 0 ? [`${counted(sponsors, "sponsor")} would be asked about ${sponsored} of them by mail.`] : []),
    ...(sponsored < total ? [`Owners and operators would be asked about ${total - sponsored}.`] : []),
  ];
}

async function scopeOf(
  context: Context,
  { company, group, sponsor }: Pick<Started, "company" | "group" | "sponsor">,
): Promise<Scope> {
  if (company !== undefined) {
    const { idOfCompany } = await import("../../../domain/companies/companies.ts");
    return { company: await idOfCompany(context, company) };
  }
  if (group !== undefined) {
    const { namedGroups } = await import("../../../domain/hosts/find-host.ts");
    const [found] = await context.db.transaction((tx) => namedGroups(tx, [group]));
    return { hostGroup: found?.id ?? 0 };
  }
  return sponsor === undefined ? "all" : { sponsor };
}

interface Listed {
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

function runList(input: Listed): Command {
  return async (environment) => {
    const { listReviews } = await load();
    const { reviewRecord } = await import("../../../server/review-records.ts");
    const { total, items } = await withServices(environment, "read", (context) => listReviews(context, input));
    await printPage(environment, COLUMNS, { ...input, total, records: items.map(reviewRecord) });
    return EXIT.done;
  };
}

function runShow({ review, ...input }: Listed & { readonly review: number }): Command {
  return async (environment) => {
    const { getReview } = await load();
    const { listItems } = await import("../../../domain/reviews/items.ts");
    const { reviewItemRecord, reviewRecord } = await import("../../../server/review-records.ts");
    const found = await withServices(environment, "read", async (context) => ({
      record: reviewRecord(await getReview(context, review)),
      list: await listItems(context, review, { page: input }),
    }));
    const { total, items } = found.list;
    const records = items.map(reviewItemRecord);
    if (input.json) printJson(environment, { ...found.record, items: records });
    else {
      printRecord({ out: environment.err }, { ...found.record, scope: scopeWords(found.record) });
      await printPage(environment, ITEMS, { ...input, total, records });
    }
    return EXIT.done;
  };
}

interface Closed {
  readonly review: number;
  readonly unanswered: (typeof UNANSWERED_WAYS)[number] | undefined;
  readonly yes: boolean;
  readonly json: boolean;
}

function runClose({ review, unanswered, yes, json }: Closed): Command {
  return async (environment) => {
    const { ask } = environment;
    const asks = unanswered === "disable" && !yes;
    if (asks && ask === undefined) {
      environment.err("uam: Disabling users needs --yes if there is no terminal to ask at.\n");
      return EXIT.usage;
    }
    const { closeReview } = await import("../../../domain/reviews/close.ts");
    const closed = await withServices(environment, "change", async (context) => {
      const { counts } = await (await load()).getReview(context, review);
      const question = `Disable ${counted(counts.unanswered, "user")} of review ${review}? [y/N] `;
      const isSure = !asks || /^y(es)?$/i.test((await ask?.(question)) ?? "");
      return isSure ? await closeReview(context, review, unanswered) : undefined;
    });
    if (closed !== undefined) return await print(environment, closed, json);
    environment.err("Nothing was changed.\n");
    return EXIT.failed;
  };
}

async function print(environment: Parameters<Command>[0], review: Review, json: boolean): Promise<number> {
  const { reviewRecord } = await import("../../../server/review-records.ts");
  const record = reviewRecord(review);
  if (json) printJson(environment, record);
  else printRecord(environment, { ...record, scope: scopeWords(record) });
  return EXIT.done;
}
