/** uam user adopt: an account that somebody else made on this host. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Look, SeenKey } from "../../../domain/adoption/look.ts";
import type { UserRow } from "../../../store/schema.ts";
import { daysOption, jsonFlag, networkOptions, textOption, userArgument } from "../../terminal/arguments.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printRecord, printTable, visible } from "../../terminal/output.ts";
import { confirmed, yesFlag } from "./confirmed.ts";
import { printUser } from "./shown-user.ts";

const adoptCommand = command(
  "adopt",
  map(
    object({
      account: argument(string({ metavar: "ACCOUNT" }), { description: message`The account, as /etc/passwd has it.` }),
      username: textOption("--username", "NAME", message`The user's name; by default the account's, without ext_.`),
      email: textOption("--email", "ADDRESS", message`Where login codes are mailed; needed with --yes.`),
      fullName: textOption("--full-name", "NAME", message`The person's name.`),
      supervisor: textOption("--supervisor", "NAME", message`Who is responsible for the user.`),
      purpose: textOption("--purpose", "TEXT", message`What the access is for.`),
      note: textOption("--note", "TEXT", message`A note for administrators; the user cannot read it.`),
      sourceNetworks: networkOptions(),
      ttlDays: daysOption("--ttl-days", message`Days until the account expires; the default is policy.default_ttl.`),
      leaveSudo: option("--leave-sudo", { description: message`Adopt it although sudo has rules for it.` }),
      yes: option("--yes", { description: message`Do it; without it, only show what there is.` }),
      json: jsonFlag(),
    }),
    (input) => runAdopt(input),
  ),
  {
    brief: message`Make an account that somebody else made on this host a user's.`,
    description: message`Shows an account of this host that the service did not make: its uid, home and groups, the keys that sshd reads for it, the other ways into it, what is in the way of making it a user's, and what that would change. With --yes, it becomes the user's: renamed to ext_NAME, with its uid and files, and without its password, groups, jobs and keys, until uam key confirm. uam user give-back undoes that. Run it as root, where the service runs as root, too.`,
  },
);

const giveBackCommand = command(
  "give-back",
  map(object({ user: userArgument(), yes: yesFlag(), json: jsonFlag() }), (input) => runGiveBack(input)),
  {
    brief: message`Make an adopted account what it was before.`,
    description: message`Gives the account the name, password, keys and groups back that it had, and forgets the user. Possible until a key is stored for the user. Jobs that were removed stay so: uam user jobs shows them. Asks first, unless --yes is given.`,
  },
);

/** Commands about accounts that somebody else made. */
export const adoptionCommands = or(adoptCommand, giveBackCommand);

interface Input {
  readonly account: string;
  readonly username: string | undefined;
  readonly email: string | undefined;
  readonly leaveSudo: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

function runAdopt({ account, username, email, leaveSudo, yes, json, ...rest }: Input): Command {
  return async (environment) => {
    const { operator } = environment;
    const request = { account, username, operator };
    if (yes && email === undefined) {
      environment.err("uam: --yes needs --email.\n");
      return EXIT.usage;
    }
    const { adoptAccount, requireAdopter } = await import("../../../domain/adoption/adopt.ts");
    if (yes && email !== undefined) {
      const input = { ...request, leaveSudo, user: { email, ...rest } };
      const user = await withServices(environment, "change", (context) => adoptAccount(context, input));
      if (!json) environment.err(`No key counts yet: uam key found ${user.username}, and uam key confirm.\n`);
      return await printUser(environment, user, json);
    }
    const { lookToAdopt } = await import("../../../domain/adoption/look.ts");
    const look = await withServices(environment, "read", (context) =>
      lookToAdopt(context, requireAdopter(context), request),
    );
    if (json) printJson(environment, lookRecord(look));
    else await printLook(environment, look);
    return look.obstacles.length === 0 ? EXIT.done : EXIT.failed;
  };
}

function runGiveBack(input: { readonly user: string; readonly yes: boolean; readonly json: boolean }): Command {
  const question = ({ username }: UserRow) =>
    `Forget the user ${username}, and give their account its former password, keys and groups?`;
  return (environment) =>
    confirmed(
      environment,
      { ...input, doing: "Giving an account back", question, refused: "Nothing was changed." },
      async (context, { id }) => {
        const { giveAccountBack } = await import("../../../domain/adoption/adopt.ts");
        const given = await giveAccountBack(context, id);
        if (input.json) printJson(environment, given);
        else environment.err(`${given.account} is what it was before.\n`);
      },
    );
}

/** The look as `--json` shows it. */
function lookRecord({ account, username, keys, obstacles, effects }: Look) {
  const { name, uid, gid, home, shell, groups, password, expires, sudo, processes, sessions } = account;
  return {
    account: name,
    username,
    uid,
    gid,
    home,
    shell,
    groups,
    password,
    expire_day: expires ?? null,
    processes,
    sessions: sessions ?? null,
    key_files: account.keyFiles.map(({ path, keys: found, more, problem }) => ({
      path,
      keys: found.length,
      more,
      problem: problem ?? null,
    })),
    keys: keys.map(({ path, type, fingerprint, options, comment, refusal }) => ({
      path,
      type,
      fingerprint,
      options,
      comment,
      refusal: refusal ?? null,
    })),
    other_ways: account.otherWays,
    sudo,
    obstacles,
    effects,
  };
}

const PASSWORDS = { set: "set", none: "none that matches", empty: "empty: no password is asked for" } as const;

const COLUMNS: readonly Column<SeenKey>[] = [
  { header: "FINGERPRINT", value: ({ fingerprint }) => fingerprint },
  { header: "TYPE", value: ({ type }) => type, narrow: "drop" },
  { header: "FILE", value: ({ path }) => path, narrow: "cut" },
  { header: "OPTIONS", value: ({ options }) => options || "-", narrow: "either" },
  { header: "COMMENT", value: ({ comment }) => comment || "-", narrow: "either" },
  { header: "CAN BE STORED", value: ({ refusal }) => refusal ?? "yes", narrow: "below" },
];

async function printLook(environment: CliEnvironment, look: Look): Promise<void> {
  const { out } = environment;
  const { name, uid, gid, home, shell, groups, password, expires, keyFiles, otherWays, sudo } = look.account;
  const date = expires === undefined ? "" : new Date(expires * 86_400_000).toISOString().slice(0, 10);
  const { processes, sessions = "" } = look.account;
  const facts = { account: name, uid, gid, home, shell, groups: groups.join(", "), password: PASSWORDS[password] };
  printRecord(environment, { ...facts, "ends on": date, processes, "SSH logins": sessions });
  out("\n");
  if (look.keys.length > 0) await printTable(environment, COLUMNS, look.keys);
  const unread = keyFiles.flatMap(({ path, more, problem }) => [
    ...(problem === undefined ? [] : [`${path} ${problem}`]),
    ...(more === 0 ? [] : [`${path} has ${more} more keys`]),
  ]);
  printList(environment, look.keys.length === 0 ? "sshd reads no key for it." : "", unread);
  printList(environment, "Other ways in, and what runs without a login:", otherWays);
  printList(environment, "sudo allows it:", sudo);
  printList(environment, "As a user's:", look.effects);
  printList(environment, "It cannot be adopted:", look.obstacles);
}

/** A heading stands for itself where nothing follows and it ends in a full stop. */
function printList({ out }: Pick<CliEnvironment, "out">, heading: string, items: readonly string[]): void {
  if (items.length === 0 && !heading.endsWith(".")) return;
  if (heading !== "") out(`${heading}\n`);
  for (const item of items) out(`  ${visible(item)}\n`);
}
