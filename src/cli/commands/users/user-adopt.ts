/** uam user adopt: an account that somebody else made on this host. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Look, SeenKey } from "../../../domain/adoption/look.ts";
import type { Adopter } from "../../../protocol/adoption.ts";
import { UamError } from "../../../shared/errors.ts";
import { jsonFlag, textOption } from "../../terminal/arguments.ts";
import { type CliEnvironment, type Command, EXIT, loadConfig, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printRecord, printTable, visible } from "../../terminal/output.ts";

export const adoptCommand = command(
  "adopt",
  map(
    object({
      account: argument(string({ metavar: "ACCOUNT" }), { description: message`The account, as /etc/passwd has it.` }),
      username: textOption("--username", "NAME", message`The user's name; by default the account's, without ext_.`),
      json: jsonFlag(),
    }),
    (input) => runAdopt(input),
  ),
  {
    brief: message`Show what there is of an account that somebody else made on this host.`,
    description: message`Shows an account of this host that the service did not make: its uid, home and groups, the keys that sshd reads for it, the other ways into it, what is in the way of making it a user's, and what that would change. Changes nothing. Run it as root, where the service runs as root, too.`,
  },
);

interface Input {
  readonly account: string;
  readonly username: string | undefined;
  readonly json: boolean;
}

function runAdopt({ account, username, json }: Input): Command {
  return async (environment) => {
    const adopter = await openAdopter(environment);
    const { lookToAdopt } = await import("../../../domain/adoption/look.ts");
    const { operator } = environment;
    const look = await withServices(environment, "read", (context) =>
      lookToAdopt(context, adopter, { account, username, operator }),
    );
    if (json) printJson(environment, lookRecord(look));
    else await printLook(environment, look);
    return look.obstacles.length === 0 ? EXIT.done : EXIT.failed;
  };
}

/** Only root sees other people's files, and only a service that runs as root can give them to somebody. */
async function openAdopter(environment: CliEnvironment): Promise<Adopter> {
  const config = await loadConfig(environment);
  if (!environment.isRoot || config.hostMode === "sudo")
    throw new UamError("invalid", "This needs root, and a service that runs as root (UAM_HOST_MODE=direct)");
  if (!config.localHost) throw new UamError("invalid", "UAM_LOCAL_HOST is off, so no account here can be a user's");
  const { adopterOf } = await import("../../../server/compose.ts");
  return adopterOf(config);
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
