/** uam company: where external users come from, and what each company allows its users. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Company } from "../../../domain/companies/companies.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { jsonFlag, pageOptions, textOption } from "../../terminal/arguments.ts";
import { changesOf, companyArgument, limitOptions } from "../../terminal/company-options.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printPage, shortTime } from "../../terminal/output.ts";
import { runList as runUserList } from "../users/user-list.ts";
import { end, resume } from "./company-end.ts";
import { type CompanyRecord, printCompany } from "./company-output.ts";
import { update } from "./company-update.ts";

const list = command(
  "list",
  map(
    object({
      search: textOption("--search", "TEXT", message`Only companies with this text in their name, in any case.`),
      ...pageOptions(),
      json: jsonFlag(),
    }),
    (input) => runList(input),
  ),
  { brief: message`List companies, by name.` },
);

const show = command(
  "show",
  map(object({ company: companyArgument(), json: jsonFlag() }), ({ company, json }) =>
    withCompany("read", json, async (context) => {
      const { getCompany, idOfCompany } = await load();
      return await getCompany(context, await idOfCompany(context, company));
    }),
  ),
  { brief: message`Show a company.` },
);

const add = command(
  "add",
  map(
    object({
      name: argument(string({ metavar: "NAME" }), { description: message`The company's name.` }),
      ...limitOptions(),
      json: jsonFlag(),
    }),
    ({ name, json, ...limits }) =>
      withCompany("store", json, async (context) =>
        (await load()).createCompany(context, { ...(await changesOf(limits)), name }),
      ),
  ),
  {
    brief: message`Make a company. Nobody comes from it yet.`,
    description: message`Makes a company that users can come from. A limit that is not given limits nothing.`,
  },
);

const remove = command(
  "delete",
  map(object({ company: companyArgument(), json: jsonFlag() }), ({ company, json }) => runDelete(company, json)),
  { brief: message`Delete a company that no user comes from.` },
);

const users = command(
  "users",
  map(object({ company: companyArgument(), ...pageOptions(), json: jsonFlag() }), (input) => runUsers(input)),
  { brief: message`List the users of a company.` },
);

export const companyCommand = command("company", or(list, show, add, update, end, resume, remove, users), {
  brief: message`Manage the companies that users come from.`,
});

const COLUMNS: readonly Column<CompanyRecord>[] = [
  { header: "ID", value: (company) => company.id },
  { header: "NAME", value: (company) => company.name, narrow: "cut" },
  { header: "STATUS", value: (company) => company.status },
  { header: "USERS", value: ({ users, max_users: most }) => (most === null ? users : `${users} of ${most}`) },
  { header: "CONTRACT ENDS", value: ({ contract_end: end }) => (end === null ? "-" : shortTime(end)) },
];

/** Loaded only where it is used: help and completion must answer at once. */
function load() {
  return import("../../../domain/companies/companies.ts");
}

interface Listed {
  readonly page: number;
  readonly pageSize: number;
  readonly json: boolean;
}

function runList({ search, ...input }: Listed & { readonly search: string | undefined }): Command {
  return async (environment) => {
    const { listCompanies } = await load();
    const { companyRecord } = await import("../../../server/company-records.ts");
    const { total, items } = await withServices(environment, "read", (context) =>
      listCompanies(context, input, search),
    );
    await printPage(environment, COLUMNS, { ...input, total, records: items.map(companyRecord) });
    return EXIT.done;
  };
}

function runUsers({ company, ...input }: Listed & { readonly company: string }): Command {
  return async (environment) => {
    const { idOfCompany } = await load();
    const companyId = await withServices(environment, "read", (context) => idOfCompany(context, company));
    return await runUserList({ ...input, companyId })(environment);
  };
}

function withCompany(purpose: "read" | "store", json: boolean, work: (context: Context) => Promise<Company>): Command {
  return async (environment) => {
    const { companyRecord } = await import("../../../server/company-records.ts");
    await printCompany(environment, companyRecord(await withServices(environment, purpose, work)), json);
    return EXIT.done;
  };
}

function runDelete(company: string, json: boolean): Command {
  return async (environment) => {
    const { deleteCompany, idOfCompany } = await load();
    await withServices(environment, "store", async (context) =>
      deleteCompany(context, await idOfCompany(context, company)),
    );
    if (json) printJson(environment, { status: "deleted" });
    else environment.err(`Deleted the company ${company}.\n`);
    return EXIT.done;
  };
}
