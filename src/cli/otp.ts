/** uam otp: a one-time code for an external user, handed over instead of mailed. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { formatTimestamp } from "../core/timestamp.ts";
import { type Command, EXIT, withServices } from "./environment.ts";

export const otpCommand = command("otp", map(object({ username: argument(string({ metavar: "NAME" })) }), runOtp), {
  brief: message`Print a one-time code for an external user.`,
  description: message`Prints a one-time code instead of mailing it. Code, cooldown and limit of wrong answers are the same as the mail's.`,
});

function runOtp({ username }: { readonly username: string }): Command {
  return async (environment) => {
    const { printCode } = await import("../auth/otp.ts");
    const { code, expiresAt } = await withServices(environment, "store", (context) => printCode(context, username));
    environment.out(`${code}\n`);
    environment.err(`Valid until ${formatTimestamp(expiresAt)}, for one login.\n`);
    return EXIT.done;
  };
}
