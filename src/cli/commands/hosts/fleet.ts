/** uam fleet: all hosts together. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { UnknownAccount } from "../../../domain/recovery/unknown-accounts.ts";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { printJson } from "../../terminal/output.ts";
import { yesFlag } from "../users/confirmed.ts";

const accept = command(
  "accept",
  map(object({ yes: yesFlag(), json: jsonFlag() }), (input) => runAccept(input)),
  {
    brief: message`Accept what is stored, after the database was set back.`,
    description: message`Hosts that have applied changes that the database has lost, as after restoring a backup, open nothing that they had shut, and remove nothing that it does not know, until this is run. Look through users and keys first: what was disabled or revoked meanwhile may be open again in what is stored. Accounts that the database no longer knows are then removed on the hosts that have them, with their home directories; they are listed first. Asks first, unless --yes is given.`,
  },
);

export const fleetCommand = command("fleet", accept, { brief: message`Decide for all hosts together.` });

function runAccept({ yes, json }: { readonly yes: boolean; readonly json: boolean }): Command {
  return async (environment) => {
    const { ask } = environment;
    if (!yes && ask === undefined) {
      environment.err("uam: Accepting needs --yes if there is no terminal to ask at.\n");
      return EXIT.usage;
    }
    const { acceptHistory } = await import("../../../domain/recovery/divergence.ts");
    const { unknownAccounts } = await import("../../../domain/recovery/unknown-accounts.ts");
    return await withServices(environment, "store", async (context) => {
      if (!yes) {
        const unknown = await unknownAccounts(context.db);
        environment.err(listOf("The database does not know these, and they are removed with their homes:", unknown));
        const answer = await ask?.("Open on all hosts what is stored as open now? [y/N] ");
        if (!/^y(es)?$/i.test(answer ?? "")) {
          environment.err("Nothing was changed.\n");
          return EXIT.failed;
        }
      }
      const { hosts, removed, unheard } = await acceptHistory(context);
      if (json) {
        printJson(environment, { hosts, removed, unheard });
        return EXIT.done;
      }
      environment.err(`${hosts === 0 ? "No host was" : `${counted(hosts, "host")} had been`} waiting for that.\n`);
      environment.err(listOf("Removed, because the database does not know them:", removed));
      if (unheard.length > 0) {
        const those = unheard.length === 1 ? "It has" : "They have";
        environment.err(
          `Not heard of since the database was set back: ${unheard.join(", ")}. ${those} perhaps more such accounts; look at uam doctor, and accept again.\n`,
        );
      }
      return EXIT.done;
    });
  };
}

function listOf(heading: string, accounts: readonly UnknownAccount[]): string {
  if (accounts.length === 0) return "";
  const lines = accounts.map(({ name, uid, hosts }) => `  ${name} (uid ${uid}) on ${counted(hosts, "host")}\n`);
  return `${heading}\n${lines.join("")}`;
}
