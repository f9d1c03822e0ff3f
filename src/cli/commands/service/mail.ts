/** uam mail test: tries out how mail is sent. */

import { randomUUID } from "node:crypto";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Config } from "../../../config/config.ts";
import type { MailTransport, SendResult } from "../../../server/mail/mail.ts";
import { publicMessage, UamError } from "../../../shared/errors.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { type CliEnvironment, type Command, EXIT, loadConfig } from "../../terminal/environment.ts";
import { visible } from "../../terminal/output.ts";

const testCommand = command(
  "test",
  map(
    object({
      address: argument(string({ metavar: "ADDRESS" }), { description: message`Where the test mail goes.` }),
    }),
    ({ address }) => runTest(address),
  ),
  {
    brief: message`Send a test mail, and say what became of it.`,
    description: message`Sends one mail in the configured way (UAM_SMTP_URL, UAM_RESEND_API_KEY, else the mail log), waits for the answer for at most half a minute, and prints it. Needs no database, changes nothing and records nothing. Exits with 1 if the mail was not taken.`,
  },
);

export const mailCommand = command("mail", testCommand, { brief: message`Try out how mail is sent.` });

function runTest(typed: string): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    const { policyOf, requireNoAgent } = await import("../../../server/compose.ts");
    requireNoAgent(config);
    const { parseEmail } = await import("../../../domain/accounts/username.ts");
    const { testMail } = await import("../../../domain/mail/admin-messages.ts");
    const to = parseEmail(typed);
    const at = systemClock.now();
    const letter = testMail(policyOf(config).site, { at, by: environment.operator });
    const transport = await openTransport(config);
    try {
      const result = await transport.send({ to, ...letter }, randomUUID());
      return say(environment, { result, to, config });
    } finally {
      await transport.close();
    }
  };
}

/** Throws a ConfigError for a URL that cannot be used, as `uam serve` does. */
async function openTransport(config: Config): Promise<MailTransport> {
  const { ConfigError } = await import("../../../config/config.ts");
  const { createTransport } = await import("../../../server/mail/transport.ts");
  try {
    return createTransport(config, systemClock);
  } catch (error) {
    if (!(error instanceof UamError)) throw error;
    throw new ConfigError([`UAM_SMTP_URL: ${publicMessage(error)}`]);
  }
}

interface Sent {
  readonly result: SendResult;
  readonly to: string;
  readonly config: Config;
}

/** Says what became of the mail. What a server answered may hold anything. */
function say(environment: CliEnvironment, { result, to, config }: Sent): number {
  const server = serverOf(config);
  if (result.kind !== "sent") {
    const outcome = result.kind === "reject" ? "refused" : "did not take";
    const what = `the test mail to ${to}`;
    const sentence = server === undefined ? `Cannot write ${what}` : `${server} ${outcome} ${what}`;
    environment.err(`${visible(`uam: ${sentence}: ${result.reason}`)}\n`);
    return EXIT.failed;
  }
  if (server === undefined) {
    environment.out(`${visible(`The test mail to ${to} was written to ${config.mailLog}: nothing was sent.`)}\n`);
    environment.out("To send mail, set UAM_SMTP_URL or UAM_RESEND_API_KEY.\n");
    return EXIT.done;
  }
  environment.out(`${visible(`${server} accepted the test mail to ${to}. Its answer: ${result.answer ?? "-"}`)}\n`);
  environment.out("Whether it arrives, only the mailbox shows; look among unwanted mail, too.\n");
  return EXIT.done;
}

/** The server that mail is handed to; undefined for the mail log. */
function serverOf({ smtpUrl, resendApiKey, resendBaseUrl }: Config): string | undefined {
  if (smtpUrl !== undefined) return new URL(smtpUrl).host;
  if (resendApiKey === undefined) return undefined;
  return resendBaseUrl === undefined ? "Resend" : new URL(resendBaseUrl).host;
}
