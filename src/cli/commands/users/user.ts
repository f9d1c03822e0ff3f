/** uam user: external users. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Context, Policy } from "../../../domain/operation/context.ts";
import type { UserRow } from "../../../store/schema.ts";
import {
  daysOption,
  endOption,
  jsonFlag,
  networkOptions,
  reasonOption,
  textOption,
  userArgument,
} from "../../terminal/arguments.ts";
import { belongingOf, companyOption, managerOption, sponsorOption } from "../../terminal/company-options.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { previewFlag, previewUser } from "../../terminal/preview.ts";
import { profileOption } from "../../terminal/profile-options.ts";
import { confirmed, yesFlag } from "./confirmed.ts";
import { awaitHostsOf, printHosts } from "./hosts-confirmed.ts";
import { printUser, printUserFields, withUser } from "./shown-user.ts";
import { adoptionCommands } from "./user-adopt.ts";
import { deleteCommand, disableCommand } from "./user-closings.ts";
import { exportCommand } from "./user-export.ts";
import { extendCommand } from "./user-extend.ts";
import { hoursCommand, timeOptions, timesOf } from "./user-hours.ts";
import { importCommand } from "./user-import.ts";
import { list } from "./user-list.ts";
import { accessCommands } from "./user-sessions.ts";
import { welcomeCommand } from "./user-welcome.ts";

const show = command(
  "show",
  map(object({ user: userArgument(), json: jsonFlag() }), ({ user, json }) =>
    withUser("read", user, json, async (_, found) => found),
  ),
  { brief: message`Show a user.` },
);

const create = command(
  "create",
  map(
    object({
      username: argument(string({ metavar: "NAME" }), { description: message`The username, without ext_.` }),
      email: option("--email", string({ metavar: "ADDRESS" }), { description: message`Where login codes are mailed.` }),
      fullName: textOption("--full-name", "NAME", message`The person's name.`),
      supervisor: textOption("--supervisor", "NAME", message`Who is responsible for the user.`),
      purpose: textOption("--purpose", "TEXT", message`What the access is for.`),
      note: textOption("--note", "TEXT", message`A note for administrators; the user cannot read it.`),
      sourceNetworks: networkOptions(),
      ttlDays: daysOption("--ttl-days", message`Days until the account expires; the default is policy.default_ttl.`),
      until: endOption("--until"),
      ...timeOptions(),
      company: companyOption(),
      manager: managerOption(),
      sponsorEmail: sponsorOption(),
      profile: ownProfileOption(),
      json: jsonFlag(),
    }),
    ({ json, company, manager, until: expireAt, from, hours, onRequest, ...input }): Command =>
      async (environment) => {
        const { createUser } = await import("../../../domain/users/users.ts");
        const { user, policy } = await withServices(environment, "change", async (context) => ({
          policy: context.policy,
          user: await createUser(context, {
            ...{ ...input, expireAt, ...(await timesOf({ from, hours, onRequest })) },
            ...(await belongingOf(context, { company, manager })),
          }),
        }));
        if (json) return await printUser(environment, user, json);
        await printUserFields(environment, user, policy.sendsMail ? {} : { welcome: "not sent: no mail is set up" });
        environment.err(`\n${whatIsNext(user, policy, environment.invocation)}`);
        return EXIT.done;
      },
  ),
  {
    brief: message`Create a user and the host account.`,
    description: message`Creates a user and the host account ext_NAME. If one of them fails, neither is created.`,
  },
);

const update = command(
  "update",
  map(
    object({
      user: userArgument(),
      email: textOption("--email", "ADDRESS", message`The new e-mail address.`),
      fullName: textOption("--full-name", "NAME", message`The person's name; "" for none.`),
      supervisor: textOption("--supervisor", "NAME", message`The new supervisor; "" for none.`),
      purpose: textOption("--purpose", "TEXT", message`The new purpose; "" for none.`),
      note: textOption("--note", "TEXT", message`A note for administrators, which the user cannot read; "" for none.`),
      sourceNetworks: networkOptions(),
      ...timeOptions(),
      company: companyOption(),
      manager: managerOption(),
      sponsorEmail: sponsorOption(),
      profile: ownProfileOption(),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    ({ user, json, preview, company, manager, from, hours, onRequest, ...others }): Command =>
      async (environment) => {
        const times = { from, hours, onRequest };
        if (Object.values({ ...others, ...times, company, manager }).every((change) => change === undefined)) {
          environment.err(
            "uam: Give one of --email, --full-name, --supervisor, --purpose, --note, --network, --from, --hours, --hours-end, --on-request, --company, --manager, --sponsor or --profile.\n",
          );
          return EXIT.usage;
        }
        const changesIn = async (context: Context) => ({
          ...{ ...others, ...(await timesOf(times)) },
          ...(await belongingOf(context, { company, manager })),
        });
        if (preview) {
          const { previewUpdate } = await import("../../../domain/users/preview-update.ts");
          const work = async (context: Context, { id }: UserRow) =>
            await previewUpdate(context, id, await changesIn(context));
          return await previewUser({ user, json }, work)(environment);
        }
        const { changeUser } = await import("../../../domain/users/update.ts");
        return await withUser("change", user, json, async (context, { id }) => {
          const changed = await changeUser(context, id, await changesIn(context));
          if (changed.isNarrower) printHosts(environment, await awaitHostsOf(context, id));
          return changed.user;
        })(environment);
      },
  ),
  {
    brief: message`Change e-mail, full name, supervisor, sponsor, purpose, note, company, profile, networks, start, hours, or whom they have to ask.`,
    description: message`Changes only what is given. Hours and the need to ask take effect at once: without access the account is shut, and SSH sessions end. Networks take effect at once: keys are refused from outside them, and SSH sessions from outside end. So does a profile: where it allows less, everything that is open ends.`,
  },
);

const enable = command(
  "enable",
  map(
    object({ user: userArgument(), reason: reasonOption(), preview: previewFlag(), json: jsonFlag() }),
    ({ preview, user, reason, json }) =>
      preview
        ? previewUser({ user, json }, async (context, { id }) =>
            (await import("../../../domain/users/preview.ts")).previewEnable(context, id, reason),
          )
        : withUser("change", user, json, async (context, { id }) => {
            const { enableUser } = await import("../../../domain/users/users.ts");
            return await enableUser(context, id, { reason });
          }),
  ),
  { brief: message`Give a disabled user access again.` },
);

const rebuild = command(
  "rebuild",
  map(
    object({
      user: userArgument(),
      yes: yesFlag(),
      json: jsonFlag(),
    }),
    (input) => runRebuild(input),
  ),
  {
    brief: message`Recreate a host account that was removed by hand.`,
    description: message`Recreates the host account of a user after somebody removed it, for example with userdel: with the same uid, an empty home directory, and keys and state as stored. A home directory that is still there is deleted. Asks first, unless --yes is given.`,
  },
);

export const userCommand = command(
  "user",
  or(
    or(list, exportCommand, show, create, update, disableCommand, enable, extendCommand, deleteCommand, rebuild),
    or(importCommand, welcomeCommand, hoursCommand, accessCommands, adoptionCommands),
  ),
  {
    brief: message`Manage external users.`,
  },
);

function ownProfileOption() {
  return profileOption(
    message`The profile that says what they may do; "none" for whatever the host lets any account do.`,
  );
}

/** Says what a new user still needs to log in, and how they hear of it. */
function whatIsNext({ username }: UserRow, { site, sendsMail }: Policy, invocation: string): string {
  const where = site.console ? `at ${site.baseUrl}/` : "over the API";
  const next = `${username} has no key yet: they log in ${where} with a one-time code, and add one.\n`;
  return sendsMail ? next : `${next}No mail is set up. To print the code: ${invocation} otp ${username}\n`;
}

interface ConfirmedInput {
  readonly user: string;
  readonly yes: boolean;
  readonly json: boolean;
}

function runRebuild({ json, ...given }: ConfirmedInput): Command {
  const question = ({ username }: UserRow) =>
    `Recreate the host account ext_${username}, and delete what is left of its home directory?`;
  return (environment) =>
    confirmed(
      environment,
      { ...given, doing: "Rebuilding", question, refused: "Nothing was changed." },
      async (context, { id }) => {
        const { rebuildAccount } = await import("../../../domain/accounts/rebuild.ts");
        await printUser(environment, await rebuildAccount(context, id), json);
      },
    );
}
