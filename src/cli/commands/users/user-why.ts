/** uam user why: whether a user can log in now, and what keeps them from it. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import { jsonFlag, userArgument } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { printJson } from "../../terminal/output.ts";

export const whyCommand = command(
  "why",
  map(object({ user: userArgument(), json: jsonFlag() }), (input) => run(input)),
  {
    brief: message`Say whether a user can log in by SSH now, and why not.`,
    description: message`Looks at what is stored, at this host and its sshd, at what further hosts have confirmed, and at sshd's log on this host. Names what to do about each cause, and quotes the newest refused logins. Exits with 0 if the user can log in, and with 1 if not.`,
  },
);

function run({ user, json }: { readonly user: string; readonly json: boolean }): Command {
  return async (environment) => {
    const { diagnoseUser } = await import("../../../domain/users/diagnosis.ts");
    const { diagnosisRecord } = await import("../../../server/diagnosis-record.ts");
    const { name, found } = await withServices(environment, "read", async (context) => {
      const { id, username } = await requireUserReferred(context, user);
      return { name: username, found: diagnosisRecord(await diagnoseUser(context, id)) };
    });
    if (json) printJson(environment, found);
    else environment.out(`${linesOf(name, found).join("\n")}\n`);
    return found.can ? EXIT.done : EXIT.failed;
  };
}

type Found = ReturnType<typeof import("../../../server/diagnosis-record.ts").diagnosisRecord>;

function linesOf(name: string, { can, because, refused, log }: Found): readonly string[] {
  const verdict = can ? `Yes: ${name} can log in now` : `No: ${name} cannot log in now`;
  return [
    `${verdict}${because.length === 0 ? "." : can ? ", but:" : ", because:"}`,
    ...because.flatMap(({ text, remedy }) => [`- ${text}.`, `  What to do: ${remedy}.`]),
    "",
    ...(refused.length === 0 ? [] : ["Refused logins, the newest first, in sshd's words:"]),
    ...refused.flatMap(({ at, from, why }) => [`- ${at} from ${from || "an unknown address"}`, `  "${why}"`]),
    `${log.read && refused.length === 0 ? "No refused login was found: " : ""}${log.text}.`,
  ];
}
