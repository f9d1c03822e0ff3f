/** The faults on the host that keep the owner of an open account out: in its entry, files and keys, and in sshd's settings for it. */

import { accessSync, constants, existsSync, lstatSync, readFileSync, type Stats, statSync } from "node:fs";
import type { Account, Drift } from "../protocol/host.ts";
import type { LoginFault } from "../protocol/logins.ts";
import type { HostObstacle } from "../shared/product/login-obstacles.ts";
import { withoutPrefix } from "../shared/text/account-name.ts";
import { octal } from "../shared/text/octal.ts";
import { DAY, systemClock } from "../shared/time/clock.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { type AccountTable, type PasswdEntry, presenceIn, requireRef, type ShadowEntry } from "./account.ts";
import { completeTable } from "./executor.ts";
import { isServed } from "./fuse-mounts.ts";
import type { HostContext } from "./host-context.ts";
import { usableKeys } from "./key-file/authorized-keys.ts";
import { keyFileOf } from "./key-file/key-path.ts";
import { reconcileAccounts } from "./reconcile.ts";
import { errorCode, ownUid } from "./safe-open.ts";
import { listsAgainst, takesKeyAlone } from "./sshd/admission.ts";
import { type SshdSettings, valuesOf } from "./sshd/sshd-settings.ts";

/** Where logging in is turned off for everybody but root (nologin(5)). */
const NOLOGIN = "/etc/nologin";
/** Write permission of others than the owner. */
const WRITABLE = 0o022;
const RECONCILE = "uam reconcile puts it right, as the service does by itself within minutes";

/** See `Host.loginFaults`. Each is there only once; those that keep everybody out come first. Which keys sshd takes is `Host.keyRefusal`'s. */
export async function loginFaults(context: HostContext, account: Account): Promise<readonly LoginFault[]> {
  requireRef(account);
  const { view } = context.executor;
  const drifts = await reconcileAccounts(context, [account], true);
  const table = await completeTable(view, view.accounts([account]), [account.name]);
  const owner = table.passwd.get(account.name);
  const ofDrifts: LoginFault[] = [];
  for (const drift of drifts) ofDrifts.push(...(await faultsOf(context, { drift, account, owner })));
  const isPresent = owner !== undefined && presenceIn(table, account) === "present";
  const ofAccount = isPresent ? await accountFaults(context, table, owner) : [];
  // The entry itself says whether its difference matters.
  const isSaid = ofAccount.some(({ reason }) => reason === "account_locked");
  const faults = [...ofDrifts.filter(({ reason }) => !isSaid || reason !== "account_locked"), ...ofAccount];
  if (existsSync(NOLOGIN))
    faults.push(fault("nologin", `${NOLOGIN} keeps everybody but root out`, "remove it when maintenance is over"));
  const once = new Map(faults.map((found) => [`${found.reason} ${found.text}`, found]));
  return [...once.values()].sort((one, other) => Number(other.blocks) - Number(one.blocks));
}

/** The faults of the account's own entry, shell and home, and of sshd's settings for it. */
async function accountFaults(
  context: HostContext,
  table: AccountTable,
  owner: PasswdEntry,
): Promise<readonly LoginFault[]> {
  const { name } = owner;
  const { settings, problem } = await context.patterns.settingsFor(name);
  return [
    ...(problem === undefined ? [] : [fault("unchecked", problem, "run uam doctor as root", false)]),
    ...(settings === undefined ? [] : sshdFaults(settings, name, groupsOf(table, owner))),
    ...entryFaults(table.shadow?.get(name), settings),
    ...shellFaults(shellOf(readFileSync("/etc/passwd", "utf8"), name)),
    ...homeFaults(owner, keyFileOf(context.settings.authorizedKeysFile, owner).inHome),
  ];
}

function fault(reason: HostObstacle, text: string, remedy: string, blocks = true): LoginFault {
  return { reason, text, remedy, blocks };
}

interface Found {
  readonly drift: Drift;
  readonly account: Account;
  readonly owner: PasswdEntry | undefined;
}

/** A difference from the stored state, as far as it matters to somebody who wants to log in. */
async function faultsOf(context: HostContext, { drift, account, owner }: Found): Promise<readonly LoginFault[]> {
  const { account: name, kind } = drift;
  const problem = asSentence(drift.problem);
  if (name !== account.name && !(kind === "failed" && name === "")) return [];
  switch (kind) {
    case "missing":
      return [fault("account_missing", problem, `uam user rebuild ${withoutPrefix(name)} recreates it`)];
    case "foreign":
      return [fault("account_foreign", problem, "an administrator of the host has to sort out whose account it is")];
    case "expiry_date":
      // Whether it refuses anybody is for the entry itself to say.
      return [fault("account_locked", problem, RECONCILE, false)];
    case "home":
      return [fault("home", problem, RECONCILE)];
    case "group":
    case "profile":
      return [fault("account_group", problem, RECONCILE, false)];
    case "key_file":
      return [
        fault(
          "key_file",
          problem,
          RECONCILE,
          owner === undefined || (await isFileUseless(context, drift, { account, owner })),
        ),
      ];
    case "key_added":
    case "other_file":
      return drift.problem.startsWith("sshd does not read")
        ? [fault("key_file", problem, "run uam install, which tells sshd which file to read")]
        : [fault("key_file", problem, RECONCILE, false)];
    case "failed":
      return [fault("unchecked", problem, "uam doctor says more", false)];
    case "key_refused":
    case "processes":
    case "trash":
    case "stray":
      return [];
  }
}

/** Whether a key file that differs from the stored keys lets nobody in: sshd would refuse it, or none of the keys is in it. */
async function isFileUseless(
  { settings, executor: { view } }: HostContext,
  { problem }: Drift,
  { account, owner }: { readonly account: Account; readonly owner: PasswdEntry },
): Promise<boolean> {
  const [, mode = "0"] = /has mode (\d+)$/.exec(problem) ?? [];
  if (/belongs to/.test(problem) || (Number.parseInt(mode, 8) & WRITABLE) !== 0) return true;
  const { text } = await view.keyFileText(keyFileOf(settings.authorizedKeysFile, owner), { mounts: view.mounts() });
  return !usableKeys(account.keys).some(({ base64 }) => text.includes(base64));
}

/** Why sshd refuses the account by its settings, whatever is in its file. Pure. */
export function sshdFaults(settings: SshdSettings, name: string, groups: readonly string[]): readonly LoginFault[] {
  const where = "in /etc/ssh/sshd_config and its drop-ins";
  const value = (setting: string) => valuesOf(settings, setting)[0] ?? "";
  const revoked = value("RevokedKeys");
  const isRevokedMissing = !["", "none"].includes(revoked) && ownUid() === 0 && !existsSync(revoked);
  return [
    ...listsAgainst(settings, { name, groups }).map((list) => {
      const whom = list.endsWith("Users") ? name : `a group of ${name}`;
      return list.startsWith("Deny")
        ? fault("sshd", `sshd's ${list} names ${whom}`, `take it out of ${list} ${where}`)
        : fault("sshd", `sshd's ${list} does not name ${whom}`, `add it to ${list} ${where}`);
    }),
    ...(value("PubkeyAuthentication") === "no"
      ? [fault("sshd", "sshd accepts no keys: PubkeyAuthentication is off", `set PubkeyAuthentication yes ${where}`)]
      : []),
    ...(takesKeyAlone(settings)
      ? []
      : [
          fault(
            "sshd",
            `sshd asks for more than a key: AuthenticationMethods ${value("AuthenticationMethods")}`,
            `set AuthenticationMethods publickey for ext_* ${where}`,
          ),
        ]),
    ...(isRevokedMissing
      ? [fault("sshd", `sshd refuses every key: ${revoked} (RevokedKeys) is missing`, "uam doctor --fix creates it")]
      : []),
  ];
}

/** What refuses a login in the account's own entry (shadow(5)); sshd itself looks at the password only without PAM. */
function entryFaults(entry: ShadowEntry | undefined, settings: SshdSettings | undefined): readonly LoginFault[] {
  if (entry === undefined) return [];
  const { expires, password } = entry;
  const isOver = expires !== undefined && expires * DAY <= systemClock.now().getTime();
  const usesPam = settings === undefined || valuesOf(settings, "UsePAM")[0] === "yes";
  return [
    ...(isOver
      ? [
          fault(
            "account_locked",
            `The account on the host has expired (${formatTimestamp(new Date(expires * DAY)).slice(0, 10)}): sshd refuses everybody`,
            `${RECONCILE}; an account that uam lock shut is opened by uam user enable`,
          ),
        ]
      : []),
    ...(password.startsWith("!")
      ? [fault("account_locked", "The account's password is locked (usermod -L)", RECONCILE, !usesPam)]
      : []),
  ];
}

/** The names of an account's groups, as initgroups(3) has them of the local databases. */
function groupsOf(table: AccountTable, { name, gid }: PasswdEntry): readonly string[] {
  return [...table.groups].filter(([, group]) => group.gid === gid || group.members.has(name)).map(([group]) => group);
}

/** The seventh field of the account's line in passwd(5); an empty one means /bin/sh. */
function shellOf(passwd: string, name: string): string {
  const line = passwd.split("\n").find((one) => one.startsWith(`${name}:`)) ?? "";
  return line.split(":")[6] || "/bin/sh";
}

/** As sshd judges a shell (auth.c, allowed_user()), and those that only say no. */
function shellFaults(shell: string): readonly LoginFault[] {
  const remedy = "give the account a shell: usermod -s /bin/bash";
  if (/\/(?:nologin|false)$/.test(shell))
    return [fault("shell", `The account's shell is ${shell}: the key is accepted, and then the session ends`, remedy)];
  try {
    accessSync(shell, constants.X_OK);
    if (statSync(shell).isFile()) return [];
    return [fault("shell", `The account's shell ${shell} is no program: sshd refuses everybody`, remedy)];
  } catch (error) {
    const why = errorCode(error) === "EACCES" ? "is not executable" : "does not exist";
    return [fault("shell", `The account's shell ${shell} ${why}: sshd refuses everybody`, remedy)];
  }
}

/** What sshd's StrictModes refuses of a home with a key file in it; without one, the session begins in /. */
function homeFaults({ home, uid }: PasswdEntry, inHome: boolean): readonly LoginFault[] {
  if (isServed(home)) return [];
  const stat = lstatSync(home, { throwIfNoEntry: false });
  if (stat === undefined)
    return [
      fault("home", `The home directory ${home} is missing`, `create it: install -d -m 0700 -o ${uid} ${home}`, inHome),
    ];
  const why = strictFault(stat, uid);
  if (why === undefined) return [];
  return [
    fault(
      "home",
      `The home directory ${home} ${why}: sshd refuses key files in it`,
      `chown ${uid} ${home} and chmod 0700 ${home}`,
      inHome,
    ),
  ];
}

/** As misc.c, safe_path_fd() has it. Pure. */
function strictFault(stat: Stats, uid: number): string | undefined {
  if (stat.uid !== uid && stat.uid !== 0) return `belongs to the uid ${stat.uid}`;
  return (stat.mode & WRITABLE) === 0 ? undefined : `can be written by others (mode ${octal(stat.mode & 0o7777)})`;
}

function asSentence(problem: string): string {
  return problem.charAt(0).toUpperCase() + problem.slice(1);
}
