/** uam company end and resume: nobody of a company has access any more, until it is resumed. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { companyArgument } from "../../terminal/company-options.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { printJson } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";
import { yesFlag } from "../users/confirmed.ts";

export const end = command(
  "end",
  map(object({ company: companyArgument(), yes: yesFlag(), preview: previewFlag(), json: jsonFlag() }), runEnd),
  {
    brief: message`End the access of everybody of a company.`,
    description: message`Disables each user of the company, and gives nobody of it access until it is resumed. Asks first, unless --yes is given. Exits with 1 if somebody's access is not completely taken away; the service goes on with that.`,
  },
);

export const resume = command("resume", map(object({ company: companyArgument(), json: jsonFlag() }), runResume), {
  brief: message`Let users of a company be given access again. Nobody has any by that.`,
});

interface Input {
  readonly company: string;
  readonly yes: boolean;
  readonly preview: boolean;
  readonly json: boolean;
}

function runEnd({ company, yes, preview, json }: Input): Command {
  return async (environment) => {
    const { idOfCompany } = await import("../../../domain/companies/companies.ts");
    const { previewEnd } = await import("../../../domain/companies/preview.ts");
    const records = await import("../../../server/company-records.ts");
    if (preview) {
      const found = await withServices(environment, "read", async (context) =>
        previewEnd(context, await idOfCompany(context, company)),
      );
      return printPreview(environment, records.companyPreviewRecord(found), json);
    }
    const { ask } = environment;
    if (!yes && ask === undefined) {
      environment.err("uam: Ending a company needs --yes if there is no terminal to ask at.\n");
      return EXIT.usage;
    }
    const { endCompany } = await import("../../../domain/companies/ending.ts");
    const ending = await withServices(environment, "change", async (context) => {
      const id = await idOfCompany(context, company);
      const { users } = await previewEnd(context, id);
      const question = `End the access of ${counted(users, "user")} of ${company}? [y/N] `;
      const answer = yes ? "yes" : await ask?.(question);
      return /^y(es)?$/i.test(answer ?? "") ? await endCompany(context, id) : undefined;
    });
    if (ending === undefined) {
      environment.err("Nothing was changed.\n");
      return EXIT.failed;
    }
    const record = records.endingRecord(ending);
    const { total, closed, owed } = record.users;
    if (json) printJson(environment, record);
    else {
      const left = owed === 0 ? "" : ` The access of ${owed} is not completely taken away; the service goes on.`;
      const everywhere = record.effective_by === null ? "" : ` True on every host by ${record.effective_by}.`;
      environment.err(
        `${company} is ${record.status}: ${closed} of ${counted(total, "user")} without access.${left}${everywhere}\n`,
      );
    }
    return record.status === "ended" ? EXIT.done : EXIT.failed;
  };
}

function runResume({ company, json }: Pick<Input, "company" | "json">): Command {
  return async (environment) => {
    const { idOfCompany } = await import("../../../domain/companies/companies.ts");
    const { resumeCompany } = await import("../../../domain/companies/ending.ts");
    const { companyRecord } = await import("../../../server/company-records.ts");
    const resumed = await withServices(environment, "store", async (context) =>
      resumeCompany(context, await idOfCompany(context, company)),
    );
    if (json) printJson(environment, companyRecord(resumed));
    else environment.err(`Users of ${resumed.row.name} can be given access again; nobody has it by that.\n`);
    return EXIT.done;
  };
}
