/** uam otp: a one-time code for an external user, handed over instead of mailed. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import { userArgument } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { findUserReferred } from "../../terminal/find-user.ts";

export const otpCommand = command(
  "otp",
  map(object({ user: userArgument() }), ({ user }) => runOtp(user)),
  {
    brief: message`Print a one-time code for an external user.`,
    description: message`Prints a one-time code instead of mailing it; it replaces one that was mailed. The same limit of wrong answers applies as for a mailed code and, where mail is set up, the same cooldown.`,
  },
);

function runOtp(reference: string): Command {
  return async (environment) => {
    const { printCode } = await import("../../../domain/auth/codes/otp.ts");
    const { loginLink } = await import("../../../domain/mail/links.ts");
    const { code, expiresAt, page } = await withServices(environment, "store", async (context) => {
      const user = await findUserReferred(context, reference);
      // An unknown name is passed on as it is, so that its refusal is recorded.
      const made = await printCode(context, user?.username ?? reference);
      const { site } = context.policy;
      return { ...made, page: site.console ? loginLink(site, made.username, made.code) : undefined };
    });
    environment.out(`${code}\n`);
    environment.err(`Valid until ${formatTimestamp(expiresAt)}, for one login.\n`);
    // For a person who reads it, and in no log: a script that takes the code from standard output may keep the rest.
    if (page !== undefined && environment.isTerminal) environment.err(`The page that fills it in: ${page}\n`);
    return EXIT.done;
  };
}
