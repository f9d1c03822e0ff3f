/** uam user welcome: the mail that tells users of their accounts, after an import without mails. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, multiple } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { publicMessage, UamError } from "../../../shared/errors.ts";
import { counted } from "../../../shared/text/counted.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";

export const welcomeCommand = command(
  "welcome",
  map(
    object({
      names: multiple(
        argument(string({ metavar: "NAME" }), { description: message`Whom to tell, by username or id.` }),
      ),
      all: option("--all", { description: message`Tell all active users who were not told yet.` }),
    }),
    (input) => run(input),
  ),
  {
    brief: message`Send users the mail that tells them of their account.`,
    description: message`For users who were imported with --no-mail. Each gets the mail once, whoever asks however often. Exits with 1 if somebody was not told.`,
  },
);

function run({ names, all }: { readonly names: readonly string[]; readonly all: boolean }): Command {
  return async (environment) => {
    if (all === names.length > 0) {
      environment.err("uam: Give either NAMEs or --all.\n");
      return EXIT.usage;
    }
    const { listUnwelcomed, welcomeUser } = await import("../../../domain/users/welcome.ts");
    return await withServices(environment, "store", async (context) => {
      // Not by text: a username can look like somebody else's id.
      const asked = all
        ? (await listUnwelcomed(context)).map((user) => async () => user)
        : names.map((name) => () => requireUserReferred(context, name));
      let told = 0;
      for (const find of asked) {
        try {
          const { id } = await find();
          const { username, email } = await welcomeUser(context, id);
          told++;
          environment.err(`${username} is told at ${email}.\n`);
        } catch (error) {
          if (!(error instanceof UamError)) throw error;
          environment.err(`uam: ${publicMessage(error)}\n`);
        }
      }
      if (all) environment.err(`${counted(told, "user")} told.\n`);
      return told === asked.length ? EXIT.done : EXIT.failed;
    });
  };
}
