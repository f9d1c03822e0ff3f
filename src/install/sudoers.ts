/** The sudoers file of sudo mode: one rule for each command that the service can run, pinned to its arguments. */

import { type RunAs, requireSudoLayout, type SudoCommand } from "../host/execute/sudo-commands.ts";
import { commandsFor, type Example } from "../host/execute/sudo-rules.ts";
import { type Layout, requireLayout, type UidRange } from "../host/settings.ts";
import { hostAccountOf, USERNAME_PATTERN } from "../shared/account-name.ts";
import { DAY } from "../shared/clock.ts";
import { UamError } from "../shared/errors.ts";
import { numberRange } from "./number-range.ts";

/** What the rules are made from. */
export interface SudoersOptions extends Layout {
  /** The system user that the service runs as. */
  readonly user: string;
  readonly uidRange: UidRange;
  /** How this very program is run, which root does to kill what an account runs; root's alone to change. */
  readonly program: readonly string[];
  /** Where the host has a command that is usually at `path`. */
  readonly locate?: (path: string) => string;
}

const USER = /^[a-z_][a-z0-9_-]{0,31}$/;
const NAME = hostAccountOf(USERNAME_PATTERN);
const EXPIRY_DAY = 2_718_281;
/** Values that stand where calls differ; the renderer puts an expression in their place. */
const EXAMPLE: Example = {
  account: {
    name: hostAccountOf("0name0"),
    uid: 3_999_999_999,
    expireAt: new Date((EXPIRY_DAY - 1) * DAY),
    open: true,
    keys: [],
  },
  mark: "feedfacefeedface",
  below: "0below0",
  names: hostAccountOf("0names0"),
};
const VARIABLE = new RegExp(
  [EXAMPLE.account.name, EXAMPLE.account.uid, EXPIRY_DAY, EXAMPLE.mark, EXAMPLE.below, EXAMPLE.names].join("|"),
  "g",
);

/**
 * The whole text of the file. It lets `user` run as root only what makes, shuts and removes accounts named `ext_…` with uids of
 * the range, and as such an account, if it is in the marker group, only what writes and shows its key file. Throws `invalid`
 * for values that have no place in sudoers. Needs sudo 1.9.10 for its expressions; sudo-rs has none.
 */
export function renderSudoers(options: SudoersOptions): string {
  requireLayout(options);
  requireSudoLayout(options);
  if (!USER.test(options.user)) throw new UamError("invalid", `Not the name of a system user: ${options.user}`);
  const { first, last } = options.uidRange;
  if (!Number.isInteger(first) || !Number.isInteger(last) || first < 1000 || last < first || last > 0xffff_fffd) {
    throw new UamError("invalid", `Not a range of uids for accounts: ${first}-${last}`);
  }
  const commands = commandsFor(options, EXAMPLE, options);
  const alias = options.user === "uam" ? "UAM" : `UAM_${options.user.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
  const list = (as: RunAs, quiet: boolean) =>
    commands
      .filter((command) => command.as === as && isQuiet(command) === quiet)
      .map((command) => `    ${rule(command, options)}`)
      .join(", \\\n");
  const { user, markerGroup } = options;
  return `# Rules of sudo mode, made by "uam sudoers". Do not edit: make it anew when the configuration of uam changes.
# Check with "visudo -cf FILE" before it goes to /etc/sudoers.d, owned by root, mode 0440. Needs sudo 1.9.10 or later.

Defaults:${user} env_reset, !setenv, !env_keep, !env_check, secure_path="/usr/sbin:/usr/bin:/sbin:/bin"
Defaults:${user} umask=0022, umask_override, !requiretty, !use_pty, !log_input, !log_output
# Without a session of PAM's sudo becomes the command, so that the service can end what hangs.
Defaults:${user} !pam_session, !pam_setcred

# As root: accounts, and what ends their processes.
Cmnd_Alias ${alias}_ROOT = \\
${list("root", false)}

# As root: looking at accounts; every minute, so not logged.
Cmnd_Alias ${alias}_LOOK = \\
${list("root", true)}

# As the account's owner: key files.
Cmnd_Alias ${alias}_OWNER = \\
${list("owner", false)}

# With the owner's rights, but under a real uid that he cannot trace.
Cmnd_Alias ${alias}_OBSERVER = \\
${list("observer", true)}

Defaults!${alias}_LOOK !log_allowed
Defaults!${alias}_OBSERVER stay_setuid, !log_allowed

${user} ALL=(root:root) NOPASSWD: ${alias}_ROOT, ${alias}_LOOK
${user} ALL=(%${markerGroup}) NOPASSWD: ${alias}_OWNER, ${alias}_OBSERVER
`;
}

function isQuiet(command: SudoCommand): boolean {
  return command.as === "observer" || /\/(?:getent|ls|sshd)$/.test(command.argv[0] ?? "");
}

function rule(command: SudoCommand, options: SudoersOptions): string {
  const [path = "", ...args] = command.argv;
  return `${escapePath(options.locate?.(path) ?? path)} ^${expression(args.join(" "), options.uidRange)}$`;
}

/** The joined arguments as a POSIX expression. A name or uid that occurs again is tied to the first by a back-reference. */
function expression(text: string, uids: UidRange): string {
  const patterns: Readonly<Record<string, string>> = {
    [EXAMPLE.account.name]: NAME,
    [EXAMPLE.account.uid]: numberRange(uids.first, uids.last),
    [EXPIRY_DAY]: "[0-9]{1,7}",
    [EXAMPLE.mark]: "[0-9a-f]{16}",
    [EXAMPLE.below]: ".+",
    [EXAMPLE.names]: `${NAME}( ${NAME})*`,
  };
  const groups = new Map<string, number>();
  let opened = 0;
  let result = "";
  let end = 0;
  for (const { 0: variable, index } of text.matchAll(VARIABLE)) {
    result += escapeLiteral(text.slice(end, index));
    end = index + variable.length;
    const known = groups.get(variable);
    const pattern = `(${patterns[variable]})`;
    if (known === undefined) {
      groups.set(variable, opened + 1);
      opened += pattern.split("(").length - 1;
    }
    result += known === undefined ? pattern.replace(/,/g, "\\,") : `\\${known}`;
  }
  return result + escapeLiteral(text.slice(end));
}

/** For regcomp(3), and for sudoers(5), which has a meaning of its own for `, : =` in arguments. */
function escapeLiteral(text: string): string {
  return text.replace(/[.+?(){}|^$[\]\\,:=]/g, "\\$&").replace(/\*/g, "[*]");
}

function escapePath(path: string): string {
  if (!/^[A-Za-z0-9._/-]+$/.test(path)) throw new UamError("invalid", `Not a path of a command: ${path}`);
  return path;
}
