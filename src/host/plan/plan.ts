/** Turns a desired state into a list of changes as data. Pure: nothing here reads the host or the clock. */

import type { Account, AccountRef, Purpose } from "../../protocol/host.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { DAY } from "../../shared/time/clock.ts";
import { type KeyFile, keyFileOf, type Owner } from "../key-file/key-path.ts";
import type { Process } from "../processes/processes.ts";
import { JOBS_ASIDE, type Layout } from "../settings.ts";

export type Change =
  /** A shadow-utils command; only one of ours runs at a time. */
  | { readonly kind: "account-command"; readonly argv: readonly string[]; readonly accept: readonly number[] }
  /**
   * A command that makes sense only where systemd runs, and whose failure breaks no guarantee. It is not run if what it is about does
   * not exist.
   */
  | { readonly kind: "systemd-command"; readonly argv: readonly string[]; readonly about?: SystemdSubject }
  /**
   * Ends all processes of the account, and sshd's own for connections that are logging in to it; see `endProcesses`. The first of two
   * times, in between which the account's jobs are removed, looks less closely.
   */
  | { readonly kind: "end-processes"; readonly account: AccountRef; readonly isFirst?: boolean }
  /** Kills exactly these processes, if they are still the same ones. */
  | { readonly kind: "kill"; readonly processes: readonly Process[] }
  /**
   * Makes the file hold exactly the text. To `give`, it stays as it was if that fails (`writeKeyFile`); to `take`, everything
   * possible is done so that no other key stays in it (`takeFromKeyFile`).
   */
  | { readonly kind: "write-keys"; readonly file: KeyFile; readonly text: string; readonly purpose: Purpose }
  /** Makes sure that the file, which sshd would read in addition to ours, contains no key; see `retireKeyFile`. */
  | { readonly kind: "retire-keys"; readonly file: KeyFile }
  /** Removes a file (not a directory) from a system directory; it may be missing. */
  | { readonly kind: "remove-file"; readonly path: string }
  /** Removes the files in a spool directory that belong to the uid. */
  | { readonly kind: "remove-owned-files"; readonly directory: string; readonly uid: number }
  /** Makes the home root's, mode 0700; see `shutHome`. */
  | { readonly kind: "shut-home"; readonly owner: Owner }
  /** Gives it back to its owner; see `openHome`. */
  | { readonly kind: "open-home"; readonly owner: Owner }
  /** Detaches FUSE mounts of the uid's own at or below the path; their server has ended, but they would stay. */
  | { readonly kind: "detach-fuse"; readonly path: string; readonly uid: number }
  /** Renames what is at `<base>/<path…>` into the root-only trash of `base`; it may be missing. */
  | { readonly kind: "set-aside"; readonly base: string; readonly path: readonly string[]; readonly uid: number }
  /** Creates the trash of `base`, so that deleting something later needs no space for it. */
  | { readonly kind: "make-trash"; readonly base: string }
  /**
   * Deletes what is in the trash of `base`: what that account left, or all of it, and first detaches what that account mounted
   * there, which moved with its home if it was mounted at the last moment. Fails if something is left that cannot be
   * deleted without help; what merely takes long is left for the next time.
   */
  | { readonly kind: "empty-trash"; readonly base: string; readonly account?: AccountRef };

/** A control group, or a file by which systemd knows something. */
export type SystemdSubject = { readonly group: string } | { readonly file: string };

/** The wanted shadow entry of an account. */
export interface WantedShadow {
  readonly password: string | undefined;
  readonly expires: number;
}

/** For plans that do not depend on the account. */
export const EXAMPLE: AccountRef = { name: hostAccountOf("example"), uid: 65_600 };
/** Any day long past, but not 0, which pam_unix(8) and shadow(5) read differently. */
export const SHUT_DAY = 1;
/** A password that never matches, but does not count as locked where PAM is off, as `!` would. */
export const NO_PASSWORD = "*";

/**
 * The account's expiry day: PAM refuses from the beginning (UTC) of that day on, so it is the day after `expireAt`: a backstop
 * that is never earlier than the time itself. Shadow days are UTC whatever the host's time zone, so a number is given, not a date.
 */
export function expiryDay(expireAt: Date): number {
  return Math.floor(expireAt.getTime() / DAY) + 1;
}

/** The wanted shadow entry of the account. */
export function wantedShadow(account: Account): WantedShadow {
  return account.open
    ? { password: NO_PASSWORD, expires: expiryDay(account.expireAt) }
    : { password: undefined, expires: SHUT_DAY };
}

/** The home of an account that is created now. */
export function homeOf(layout: Layout, name: string): string {
  return `${layout.homeBase}/${name}`;
}

/** The account as it will be in /etc/passwd; for plans before it exists. */
export function expectedOwner(layout: Layout, account: AccountRef): Owner {
  return { name: account.name, uid: account.uid, gid: account.uid, home: homeOf(layout, account.name) };
}

/** Creates the marker group; groupadd exits with 9 if it already exists. */
export function planMarkerGroup(layout: Layout): readonly Change[] {
  return [accountCommand(["/usr/sbin/groupadd", "--system", "--", layout.markerGroup], [0, 9])];
}

/** Puts the account back into the marker group, which somebody may have removed, too. */
export function planMark(layout: Layout, account: AccountRef): readonly Change[] {
  const mark = accountCommand(["/usr/sbin/usermod", "-a", "-G", layout.markerGroup, "--", account.name]);
  return [...planMarkerGroup(layout), mark];
}

/**
 * Creates the account, its own group, whose id is the uid, and its home; nothing that the skeleton has in `.ssh` stays. Where another group
 * has that id, nothing is created.
 */
export function planCreate(layout: Layout, account: Account): readonly Change[] {
  // With -U useradd prefers the uid only within these, and would else take a number that is given again once the group is gone.
  const group = [`GID_MIN=${account.uid}`, `GID_MAX=${account.uid}`];
  const settings = ["SUB_UID_COUNT=0", "SUB_GID_COUNT=0", "HOME_MODE=0700", "UMASK=077"];
  const ageing = ["PASS_MAX_DAYS=-1", "PASS_MIN_DAYS=-1", "PASS_WARN_AGE=-1"];
  // Sudo cannot tell where one argument ends: an option that takes any text could swallow those behind it. So uid, expiry and
  // groups, which useradd checks, come first.
  return [
    accountCommand([
      ...[
        "/usr/sbin/useradd",
        "-m",
        "-U",
        "-u",
        String(account.uid),
        "-e",
        String(expiryDay(account.expireAt)),
        "-f",
        "-1",
      ],
      ...["-G", [layout.markerGroup, ...layout.groups].join(",")],
      ...[...group, ...settings, ...ageing].flatMap((setting) => ["-K", setting]),
      ...["-s", layout.shell, "-d", homeOf(layout, account.name), "-p", NO_PASSWORD, "--", account.name],
    ]),
    { kind: "set-aside", base: layout.homeBase, path: [account.name, ".ssh"], uid: account.uid },
  ];
}

/** Removes what a crash in the middle of `planCreate` left; such a home can only be a copy of the skeleton. */
export function planDiscardHalfCreated(layout: Layout, account: AccountRef): readonly Change[] {
  return [
    accountCommand(["/usr/sbin/userdel", "--", account.name], [0, 6]),
    { kind: "set-aside", base: layout.homeBase, path: [account.name], uid: account.uid },
  ];
}

/** Writes the authorized-keys file. */
export function planKeys(layout: Layout, owner: Owner, text: string, purpose: Purpose = "give"): readonly Change[] {
  return [{ kind: "write-keys", file: keyFileOf(layout.authorizedKeysFile, owner), text, purpose }];
}

/** Moves away other files in the home that sshd would read keys from; one elsewhere is the administrator's. */
export function planRetireKeys(files: readonly KeyFile[]): readonly Change[] {
  return files.filter((file) => file.inHome).map((file): Change => ({ kind: "retire-keys", file }));
}

/** Sets expiry day and password, for an open or a shut account. */
export function planShadow(account: Account): readonly Change[] {
  const wanted = wantedShadow(account);
  const password = wanted.password === undefined ? [] : ["-p", wanted.password];
  return [accountCommand(["/usr/sbin/usermod", "-e", String(wanted.expires), ...password, "--", account.name])];
}

/** Switches password ageing off; ageing refuses key logins too. */
export function planNoAgeing(account: AccountRef): readonly Change[] {
  return [accountCommand(["/usr/bin/chage", "-m", "-1", "-M", "-1", "-W", "-1", "-I", "-1", "--", account.name])];
}

type Shut = { readonly others: readonly KeyFile[]; readonly keepsJobs?: boolean };

/** How an account is shut, in this order. */
export interface ShutPlan {
  /** Makes sshd refuse every key. */
  readonly refuse: readonly Change[];
  /** Ends what would undo the next step. */
  readonly first: readonly Change[];
  /** Leaves nothing scheduled, and no key in the account's own files. */
  readonly clear: readonly Change[];
  /** Ends the remaining processes, including those that started meanwhile. */
  readonly end: readonly Change[];
}

/**
 * Shuts the account: first no new login, then nothing left running, then nothing scheduled and no key, then what slipped in
 * between. Anything still running would schedule itself again and put a key back. The home is shut before the file in it is
 * emptied: then nobody can interfere with that.
 */
export function planShut(layout: Layout, owner: Owner, { others, keepsJobs }: Shut): ShutPlan {
  const detach: Change = { kind: "detach-fuse", path: owner.home, uid: owner.uid };
  return {
    refuse: [accountCommand(["/usr/sbin/usermod", "-e", String(SHUT_DAY), "--", owner.name])],
    first: planEndProcesses(owner, true),
    clear: [
      ...(keepsJobs ? [] : planNoJobs(owner)),
      detach,
      ...(layout.homesStay === true ? [] : [{ kind: "shut-home", owner } as const]),
      ...planKeys(layout, owner, "", "take"),
      ...planRetireKeys(others),
    ],
    end: planEndProcesses(owner),
  };
}

/**
 * Opens the account: first the keys, then the home, then the login itself, so that no account opens with a file that could not be
 * corrected.
 */
export function planOpen(account: Account, keyChanges: readonly Change[], home: readonly Change[]): readonly Change[] {
  return [...keyChanges, ...home, ...planShadow(account)];
}

/** Gives the home of an account that is opened back to it, where shutting takes it away. */
export function planOpenHome({ homesStay }: Layout, owner: Owner): readonly Change[] {
  return homesStay === true ? [] : [{ kind: "open-home", owner }];
}

/** Removes everything that would start a process of the account without a login. Paths of Debian, Red Hat and SUSE. */
export function planNoJobs(account: AccountRef): readonly Change[] {
  const crontabs = ["/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron"];
  const linger = `/var/lib/systemd/linger/${account.name}`;
  return [
    { kind: "systemd-command", argv: ["/usr/bin/loginctl", "disable-linger", account.name], about: { file: linger } },
    { kind: "remove-file", path: linger },
    // As the end of a lease left it; the other files that it renamed have their owner.
    { kind: "remove-file", path: `/var/lib/systemd/linger/${JOBS_ASIDE}${account.name}` },
    ...crontabs.map((directory): Change => ({ kind: "remove-file", path: `${directory}/${account.name}` })),
    // Including what a killed crontab(1) leaves beside them.
    ...[...crontabs, "/var/spool/cron/atjobs", "/var/spool/cron/atspool", "/var/spool/at"].map(
      (directory): Change => ({ kind: "remove-owned-files", directory, uid: account.uid }),
    ),
  ];
}

/** Ends the account's processes: those that systemd knows, and then all of them. */
export function planEndProcesses({ name, uid }: AccountRef, isFirst = false): readonly Change[] {
  const slice = `user-${uid}.slice`;
  return [
    {
      kind: "systemd-command",
      argv: ["/usr/bin/systemctl", "kill", "--signal=SIGKILL", slice],
      about: { group: `/user.slice/${slice}` },
    },
    { kind: "end-processes", account: { name, uid }, ...(isFirst ? { isFirst } : {}) },
  ];
}

/** After the account was shut, before its entry goes: its place in /run, mail, key files outside the home, and then the home itself. */
export function planBeforeRemoval(layout: Layout, owner: Owner): readonly Change[] {
  const { base, name } = splitHome(owner.home);
  const keys = keyFileOf(layout.authorizedKeysFile, owner);
  const spools = ["/var/mail", "/var/spool/mail"];
  return [
    // A manager that was killed does not always take its account's runtime directory with it; and what was just taking it away runs in the
    // account's slice, and was killed with that. systemd then has nothing to stop any more, unless it is started: it finds all there.
    ...["start", "stop"].map(
      (verb): Change => ({
        kind: "systemd-command",
        argv: ["/usr/bin/systemctl", verb, `user-runtime-dir@${owner.uid}.service`],
      }),
    ),
    ...spools.map((directory): Change => ({ kind: "remove-file", path: `${directory}/${owner.name}` })),
    ...(keys.inHome ? [] : [setAsideKeys(keys)]),
    { kind: "set-aside", base, path: [name], uid: owner.uid },
  ];
}

/** Removes the account's entry, never its files: userdel -r follows what the owner set up in the home. */
export function planRemoveEntry(account: AccountRef): readonly Change[] {
  return [accountCommand(["/usr/sbin/userdel", "--", account.name], [0, 6])];
}

/** Deletes what was set aside of the account's. */
export function planEmptyTrash(layout: Layout, owner: Owner): readonly Change[] {
  return trashBases(layout, owner).map(
    (base): Change => ({ kind: "empty-trash", base, account: { name: owner.name, uid: owner.uid } }),
  );
}

/** The directories whose trash holds what is deleted, in this layout. */
export function trashBases(layout: Layout, owner: Owner = expectedOwner(layout, EXAMPLE)): readonly string[] {
  const keys = keyFileOf(layout.authorizedKeysFile, owner);
  return [...new Set([splitHome(owner.home).base, ...(keys.inHome ? [] : [keys.trusted])])];
}

/** The directory that a home is in, and its name there. */
export function splitHome(home: string): { readonly base: string; readonly name: string } {
  const cut = home.lastIndexOf("/");
  return { base: home.slice(0, cut) || "/", name: home.slice(cut + 1) };
}

function setAsideKeys(file: KeyFile): Change {
  const first = file.owned[0] ?? file.file;
  return { kind: "set-aside", base: file.trusted, path: [first], uid: file.owner.uid };
}

function accountCommand(argv: readonly string[], accept: readonly number[] = [0]): Change {
  return { kind: "account-command", argv, accept };
}
