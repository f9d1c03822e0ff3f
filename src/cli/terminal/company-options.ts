/** The arguments and options about a company, which several commands share. */

import { message, text } from "@optique/core/message";
import { map, multiple, optional } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { CompanyChanges } from "../../domain/companies/company-fields.ts";
import type { Context } from "../../domain/operation/context.ts";
import { MOST_COMPANY_USERS } from "../../shared/product/limits.ts";
import { MAX_DAYS } from "../../shared/time/duration.ts";
import { numberOrNone, oneOf, textOption, timeOrNone } from "./arguments.ts";
import { offering } from "./completion.ts";
import { readHours } from "./hours.ts";

/** `COMPANY`: by name or by id. */
export function companyArgument() {
  return argument(offering(string({ metavar: "COMPANY" }), "companies"), {
    description: message`The company's name or id.`,
  });
}

/** `--company`, of a user. */
export function companyOption() {
  return optional(
    option("--company", offering(string({ metavar: "COMPANY" }), "companies"), {
      description: message`The company that the user comes from, by name or id; "" for none.`,
    }),
  );
}

/** `--company`, of a filter. */
export function ofCompanyOption() {
  return optional(
    option("--company", offering(string({ metavar: "COMPANY" }), "companies"), {
      description: message`Only users of this company, by name or id.`,
    }),
  );
}

/** `--manager`. */
export function managerOption() {
  return optional(
    option("--manager", oneOf(["yes", "no"], "ANSWER"), {
      description: message`Whether the user may see and end the users of their company: yes or no.`,
    }),
  );
}

/** The same as operations take it. */
export async function belongingOf(
  context: Context,
  { company, manager }: { readonly company: string | undefined; readonly manager: "yes" | "no" | undefined },
) {
  const { idOfCompany } = await import("../../domain/companies/companies.ts");
  const id = company === undefined || company === "" ? null : await idOfCompany(context, company);
  return {
    companyId: company === undefined ? undefined : id,
    manager: manager === undefined ? undefined : manager === "yes",
  };
}

/** `--name`. */
export function nameOption() {
  return textOption("--name", "NAME", message`The new name.`);
}

export function sponsorOption() {
  return textOption("--sponsor", "ADDRESS", message`Who answers for them; "" for nobody, or their company's sponsor.`);
}

/** The limits of a company. */
export function limitOptions() {
  const none = message`"none" for no limit.`;
  return {
    contractEnd: timeOrNone(
      "--contract-end",
      message`No user's end lies after it: RFC 3339, or a date (its end, UTC); ${none}`,
    ),
    maxUsers: numberOrNone("--max-users", MOST_COMPANY_USERS, message`How many users it may have; ${none}`),
    maxTtlDays: numberOrNone(
      "--max-ttl-days",
      MAX_DAYS,
      message`How many days ahead a user's end may lie when it is set; ${none}`,
    ),
    sourceNetworks: listOption("--network", "CIDR", "any", message`A network within which its users' networks lie`),
    hostGroups: listOption("--group", "GROUP", "any", message`A group of hosts that its users may have`),
    hours: textOption(
      "--hours",
      "HOURS",
      message`In which hours of the week access of its users is open, such as "mon-fri 08:00-18:00 Europe/Berlin"; "always" for all.`,
    ),
    sponsorEmail: textOption("--sponsor", "ADDRESS", message`Who answers for its users; "" for nobody.`),
  };
}

type Limits = {
  readonly [Field in keyof ReturnType<typeof limitOptions>]: Field extends "hours"
    ? string | undefined
    : CompanyChanges[Field];
};

/** The given limits as the operations take them. Throws `invalid` for hours that cannot be read. */
export async function changesOf({ hours, ...limits }: Limits): Promise<CompanyChanges> {
  return { ...limits, hours: hours === undefined ? undefined : await readHours(hours) };
}

/** An option that may be repeated; undefined if it is not given, none for the word. */
function listOption(name: `--${string}`, metavar: Uppercase<string>, word: string, what: ReturnType<typeof message>) {
  const description = message`${what}; may be repeated. "${text(word)}" for no limit.`;
  return map(multiple(option(name, string({ metavar: metavar as "TEXT" }), { description })), (given) => {
    if (given.length === 0) return undefined;
    return given.every((entry) => entry === word) ? [] : given;
  });
}
