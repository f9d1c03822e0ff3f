/** Whether sudo mode can work here, and what to do if it cannot. */

import { publicMessage } from "../../shared/errors.ts";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import { DAY, systemClock } from "../../shared/time/clock.ts";
import { lookAgain } from "../../shared/work/second-look.ts";
import { readAccounts } from "../account.ts";
import { keyFileOf, otherKeyFilesOf } from "../key-file/key-path.ts";
import { EXAMPLE, expectedOwner } from "../plan/plan.ts";
import { readProcess } from "../processes/processes.ts";
import type { HostSettings, Layout } from "../settings.ts";
import { createKeyFilePatterns } from "../sshd/sshd.ts";
import { requireSudoLayout, type SudoCommand, secondKeyFile } from "./sudo-commands.ts";
import { findSudoFault, mayRunAsMembers } from "./sudo-program.ts";
import { commandsFor } from "./sudo-rules.ts";
import { askSudo, isAllowed, locateForRoot, REMEDY, runSudo } from "./sudo-run.ts";

/** How many questions sudo is asked at a time. */
const AT_ONCE = 8;
/** How often the rules are looked at while the accounts that they are looked at with are deleted. */
const ATTEMPTS = 5;
/** The service works without these: systemd's are a help, and not every host has FUSE and the spools. */
const OPTIONAL = /\/(?:loginctl|systemctl|fusermount3?|getent|sshd|rm|find)$/;

/**
 * Sentences that each name a fault and its remedy; none if sudo mode can work. Changes nothing. While packages are upgraded, sudo and the
 * programs of its rules are missing or do not start for a moment, and sudo refuses: a fault counts if it is still there after a pause.
 */
export async function checkSudo(
  settings: HostSettings,
  program: readonly string[],
  pause?: () => Promise<void>,
): Promise<readonly string[]> {
  try {
    requireSudoLayout(settings);
  } catch (error) {
    return [publicMessage(error)];
  }
  return await lookAgain({
    look: () => faultsNow(settings, program),
    isFaulty: (faults) => faults.length > 0,
    pause,
  });
}

/**
 * The files in the homes that sshd would read keys from by these patterns, and that no rule lets us look at or empty; as paths
 * of an account `ext_example`. Pure.
 */
export function strayKeyFiles(layout: Layout, patterns: readonly string[]): readonly string[] {
  const owner = expectedOwner(layout, EXAMPLE);
  const ours = keyFileOf(layout.authorizedKeysFile, owner);
  const second = secondKeyFile(layout);
  const known = second === undefined ? undefined : keyFileOf(second, owner).path;
  return otherKeyFilesOf(patterns, ours)
    .filter((file) => file.inHome && file.path !== known)
    .map((file) => file.path);
}

async function faultsNow(settings: HostSettings, program: readonly string[]): Promise<readonly string[]> {
  try {
    const sudo = findSudoFault();
    if (sudo !== undefined) return [`${sudo.finding}: ${sudo.remedy}`];
    if (readProcess(1) === undefined) {
      return [
        "This user cannot see other users' processes: mount /proc without hidepid, leave ProtectProc= out of the unit",
      ];
    }
    const faults = await ruleFaults(settings, program);
    return faults.length > 0 ? faults : await sshdFaults(settings);
  } catch (error) {
    return [publicMessage(error)];
  }
}

/** An sshd that cannot be asked is no fault here: reconcile reports what it reads. */
async function sshdFaults(settings: HostSettings): Promise<readonly string[]> {
  const ask = (argv: readonly string[]) => runSudo({ as: "root", argv });
  const { patterns } = await createKeyFilePatterns(settings.tools, ask).of(EXAMPLE.name);
  const [stray] = strayKeyFiles(settings, patterns ?? []);
  if (stray === undefined) return [];
  const advice = `set AuthorizedKeysFile to ${settings.authorizedKeysFile} for ext_* in sshd_config`;
  return [`sshd also reads keys from files such as ${stray}, where sudo mode could not revoke one: ${advice}`];
}

async function ruleFaults(settings: HostSettings, program: readonly string[]): Promise<readonly string[]> {
  const listed = await askSudo("-n", "-l");
  if (listed.exitCode !== 0) return [`sudo -n does not work for this user (${firstLine(listed.stderr)}): ${REMEDY}`];
  for (let attempt = 1; ; attempt++) {
    const owner = ownersOf(settings)[0];
    const faults = await ruleFaultsWith(owner, { settings, program, list: listed.stdout });
    if (faults.length === 0 || owner === undefined || attempt === ATTEMPTS) return faults;
    // An account deleted meanwhile makes sudo refuse everything as its owner: the rules are judged by another account.
    if (ownersOf(settings).includes(owner)) return faults;
  }
}

interface Questions {
  readonly settings: HostSettings;
  readonly program: readonly string[];
  /** The output of `sudo -l`. */
  readonly list: string;
}

async function ruleFaultsWith(
  owner: string | undefined,
  { settings, program, list }: Questions,
): Promise<readonly string[]> {
  const account = {
    name: owner ?? EXAMPLE.name,
    uid: settings.uidRange?.first ?? EXAMPLE.uid,
    expireAt: new Date(systemClock.now().getTime() + DAY),
    open: true,
    keys: [],
  };
  const variable = {
    mark: "0123456789abcdef",
    below: "mnt",
    names: account.name,
    session: "123450000678",
    place: "00",
  };
  const example = { account, ...variable };
  const commands = commandsFor(settings, example, { program, tools: settings.tools });
  const programs = [...new Set(commands.map(({ argv }) => argv[0] ?? ""))];
  const absent = programs.filter((name) => locateForRoot(name) === undefined);
  const needed = absent.find((program) => !OPTIONAL.test(program));
  if (needed !== undefined) return [`This host has no ${needed}: install it`];
  const present = commands.filter(({ argv }) => !absent.includes(argv[0] ?? ""));
  const missing: string[] = [];
  for (let start = 0; start < present.length; start += AT_ONCE) {
    const some = present.slice(start, start + AT_ONCE);
    const listings = await Promise.all(some.map((command) => isListed(command, owner, list, settings)));
    missing.push(...some.filter((_, index) => !listings[index]).map(({ argv }) => argv.join(" ")));
  }
  if (missing.length === 0) return [];
  const [first = ""] = missing;
  return [
    `sudo does not allow ${missing.length} of the commands that this configuration needs ("${first}"): ${REMEDY}`,
  ];
}

/** sudo can be asked about a command run as an owner only if there is one; before the first account its list must suffice. */
async function isListed(
  command: SudoCommand,
  owner: string | undefined,
  list: string,
  settings: HostSettings,
): Promise<boolean> {
  if (command.as === "root") return isAllowed(command);
  if (owner !== undefined) return isAllowed(command, owner);
  return mayRunAsMembers(list, settings.markerGroup);
}

/** The names of our accounts on the host. */
function ownersOf(settings: HostSettings): readonly string[] {
  const table = readAccounts();
  const members = table.groups.get(settings.markerGroup)?.members ?? new Set<string>();
  return [...members].filter((name) => name.startsWith(ACCOUNT_PREFIX) && table.passwd.has(name));
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
