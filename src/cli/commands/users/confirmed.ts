/** Changes to a user that cannot be undone: made only after a person, or --yes, has confirmed them. */

import { message } from "@optique/core/message";
import { option } from "@optique/core/primitives";
import type { Context } from "../../../domain/operation/context.ts";
import type { UserRow } from "../../../store/schema.ts";
import { type CliEnvironment, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";

/** The action to confirm, and the question to ask. */
export interface Confirmation {
  /** The user, as typed. */
  readonly user: string;
  readonly yes: boolean;
  /** "Deleting". */
  readonly doing: string;
  readonly question: (user: UserRow) => string;
  /** Printed after a no. */
  readonly refused: string;
}

/** `--yes`. */
export function yesFlag() {
  return option("--yes", { description: message`Do not ask.` });
}

/** Asks, unless `yes`, and does the work. A usage error if nobody can be asked, a failure if the answer is no. */
export async function confirmed(
  environment: CliEnvironment,
  { user: reference, yes, doing, question, refused }: Confirmation,
  work: (context: Context, user: UserRow) => Promise<void>,
): Promise<number> {
  const { ask } = environment;
  if (!yes && ask === undefined) {
    environment.err(`uam: ${doing} needs --yes if there is no terminal to ask at.\n`);
    return EXIT.usage;
  }
  return await withServices(environment, "change", async (context) => {
    const user = await requireUserReferred(context, reference);
    const answer = yes ? "yes" : await ask?.(`${question(user)} [y/N] `);
    if (!/^y(es)?$/i.test(answer ?? "")) {
      environment.err(`${refused}\n`);
      return EXIT.failed;
    }
    await work(context, user);
    return EXIT.done;
  });
}
