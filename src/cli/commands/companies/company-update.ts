/** uam company update: changes a company, and takes from its users what they have beyond narrower limits. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { CompanyChanges } from "../../../domain/companies/company-fields.ts";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { changesOf, companyArgument, limitOptions, nameOption } from "../../terminal/company-options.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { visible } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";
import { yesFlag } from "../users/confirmed.ts";
import { printCompany } from "./company-output.ts";

export const update = command(
  "update",
  map(
    object({
      ...{ company: companyArgument(), name: nameOption(), ...limitOptions() },
      ...{ yes: yesFlag(), preview: previewFlag(), json: jsonFlag() },
    }),
    ({ company, name, yes, preview, json, ...limits }) =>
      runUpdate({ company, yes, preview, json, given: async () => ({ ...(await changesOf(limits)), name }) }),
  ),
  {
    brief: message`Change a company.`,
    description: message`Changes what is given. Its users lie within it: what they have beyond a narrower limit is taken away, after a question, unless --yes is given. Exits with 1 if some of that is still to be done; the service goes on with it.`,
  },
);

interface Input {
  readonly company: string;
  readonly yes: boolean;
  readonly preview: boolean;
  readonly json: boolean;
  readonly given: () => Promise<CompanyChanges>;
}

function runUpdate({ company, yes, preview, json, given }: Input): Command {
  return async (environment) => {
    const changes = await given();
    if (Object.values(changes).every((change) => change === undefined)) {
      environment.err("uam: Nothing to change: give --name or a limit.\n");
      return EXIT.usage;
    }
    const { idOfCompany } = await import("../../../domain/companies/companies.ts");
    const { previewUpdate, updateCompany } = await import("../../../domain/companies/update.ts");
    const { companyPreviewRecord, companyRecord } = await import("../../../server/company-records.ts");
    if (preview) {
      const found = await withServices(environment, "read", async (context) =>
        previewUpdate(context, await idOfCompany(context, company), changes),
      );
      return printPreview(environment, companyPreviewRecord(found), json);
    }
    const { ask } = environment;
    return await withServices(environment, "change", async (context) => {
      const id = await idOfCompany(context, company);
      const { effects, users } = await previewUpdate(context, id, changes);
      if (users > 0 && !yes) {
        if (ask === undefined) {
          environment.err("uam: Narrowing a company needs --yes if there is no terminal to ask at.\n");
          return EXIT.usage;
        }
        for (const effect of effects) environment.err(`${visible(effect)}\n`);
        const answer = await ask(`Take this from ${counted(users, "user")}? [y/N] `);
        if (!/^y(es)?$/i.test(answer)) {
          environment.err("Nothing was changed.\n");
          return EXIT.failed;
        }
      }
      const record = companyRecord(await updateCompany(context, id, changes));
      await printCompany(environment, record, json);
      if (!record.narrowing) return EXIT.done;
      environment.err("Some of what its users lose is not taken away yet; the service goes on.\n");
      return EXIT.failed;
    });
  };
}
