/** uam fleet: all hosts together. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { counted } from "../shared/counted.ts";
import { jsonFlag } from "./arguments.ts";
import { yesFlag } from "./confirmed.ts";
import { type Command, EXIT, withServices } from "./environment.ts";
import { printJson } from "./output.ts";

const accept = command(
  "accept",
  map(object({ yes: yesFlag(), json: jsonFlag() }), (input) => runAccept(input)),
  {
    brief: message`Accept what is stored, after the database was set back.`,
    description: message`Hosts that have applied changes that the database has lost, as after restoring a backup, open nothing that they had shut, and remove nothing that it does not know, until this is run. Look through users and keys first: what was disabled or revoked meanwhile may be open again in what is stored. Asks first, unless --yes is given.`,
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
    const { acceptHistory } = await import("../domain/fleet/divergence.ts");
    return await withServices(environment, "store", async (context) => {
      const answer = yes ? "yes" : await ask?.("Open on all hosts what is stored as open now? [y/N] ");
      if (!/^y(es)?$/i.test(answer ?? "")) {
        environment.err("Nothing was changed.\n");
        return EXIT.failed;
      }
      const hosts = await acceptHistory(context);
      if (json) printJson(environment, { hosts });
      else environment.err(`${hosts === 0 ? "No host was" : `${counted(hosts, "host")} had been`} waiting for that.\n`);
      return EXIT.done;
    });
  };
}
