/**
 * The titles of sshd's processes: the one place that knows them. Titles changed with OpenSSH 9.8 (`sshd-session`), 10.0
 * (`sshd-auth`) and 10.5 (`[postauth]`), and will again: one that is not known is named as such, never taken for nothing.
 */

export type TitleSays =
  /** A connection for that account, logged in or about to be. */
  | { readonly kind: "connection"; readonly account: string }
  /** Nobody's: sshd that listens, or a connection of somebody who has not said yet whose account they want. */
  | { readonly kind: "nobody" }
  /** sshd's, and not understood. */
  | { readonly kind: "unknown" };

const NOBODY: TitleSays = { kind: "nobody" };
const UNKNOWN: TitleSays = { kind: "unknown" };

/** setproctitle(3) puts the program's name in front; before that, the title is the command line. */
const TITLE = /^sshd(?:-[a-z]+)?: (.+)$/s;
const COMMAND_LINE = /^(?:\/[^ ]*\/)?sshd(?:-[a-z]+)?(?: |$)/;
const LISTENER = / \[listener\] \d+ of \d+-\d+ startups$/;
/** Stages before a name is known (sshd.c, sshd-session.c, sshd-auth.c). */
const STAGE = /^\[(?:accepted|rexeced|net|session-auth|session-auth early)\]$/;
/** Stages of a connection for an account (monitor.c, auth2.c, auth-pam.c, sshd-session.c). */
const NAMED = /^(.+) \[(?:priv|net|pam|postauth)\]$/s;
/** A session of an account: `NAME`, `NAME@pts/0`, `NAME@notty` (session.c). */
const SESSION = /^([^\s[\]@]+)(?:@[^\s[\]]+)?$/;
/** An account of ours, in whatever stage. */
const ANY_STAGE = /^(ext_[a-z0-9_-]+)[ @]/;

/** Parses the command line of a process, as /proc has it; undefined for a process that is not one of sshd's. Pure. */
export function readTitle(commandLine: string): TitleSays | undefined {
  if (!commandLine.startsWith("sshd") && !commandLine.includes("/sshd")) return undefined;
  const text = commandLine.replace(/\0+/g, " ").trim();
  const said = TITLE.exec(text)?.[1];
  if (said === undefined) return COMMAND_LINE.test(text) ? NOBODY : undefined;
  if (LISTENER.test(said) || STAGE.test(said)) return NOBODY;
  const account = (NAMED.exec(said) ?? SESSION.exec(said) ?? ANY_STAGE.exec(said))?.[1];
  return account === undefined ? UNKNOWN : { kind: "connection", account };
}
