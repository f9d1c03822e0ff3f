/** The logins to an account that sshd refused, by its own log. */

import { isIP } from "node:net";
import type { RefusalLog, RefusedLogin } from "../../protocol/logins.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import { findCommand } from "../command.ts";
import type { HostSettings } from "../settings.ts";
import { parseObject } from "./journal.ts";
import { JOURNALCTL, readJournalLines, timeOf } from "./journal-lines.ts";
import { messageOfSshd, ofSshd } from "./login-log.ts";

/** The most lines that one reading takes, however full the log: sshd writes some for each stranger who knocks. */
const MOST_LINES = 20_000;
const MOST_REFUSALS = 10;
/** Somebody waits for the answer. */
const TIMEOUT = 5_000;
/** Lines of one connection that are quoted, and characters of each. */
const MOST_QUOTED = 6;
const LONGEST_QUOTE = 300;
/** Longer than any login takes: a line with the same process number from further back is another connection's. */
const LOGIN_TIME = 10 * MINUTE;
/** What sshd says of "AuthorizedKeysCommand none" in the drop-in, for each key that is not in the file: no cause of a refusal. */
const OF_THE_DROP_IN =
  /^(?:error: )?(?:No user for AuthorizedKeysCommand specified, skipping|AuthorizedKeysCommand path is not absolute)$/;

export interface RefusalReader {
  /** The newest refusals of the account of that name. Never throws. */
  read(name: string): Promise<RefusalLog>;
}

/** Reads the host's journal from its end, or another that the tools name. */
export function openRefusalLog(tools: HostSettings["tools"], mostLines = MOST_LINES): RefusalReader {
  const journalctl = tools?.journalctl ?? JOURNALCTL;
  return {
    async read(name) {
      if (findCommand(journalctl) === undefined) return unread("This host has no journal (journalctl is missing)");
      const gathering = gather(name);
      let lines = 0;
      let oldest: Date | undefined;
      const take = (text: string): boolean => {
        lines++;
        const line = parseLine(text);
        oldest = line?.at ?? oldest;
        return (line === undefined || gathering.add(line)) && lines < mostLines;
      };
      const argv = [journalctl, ...ofSshd(["--reverse"], ["_PID", "_BOOT_ID"])] as const;
      const end = await readJournalLines(argv, take, TIMEOUT);
      if (oldest === undefined)
        return unread(end === "failed" ? "journalctl does not answer" : "The journal has no line of sshd's");
      const refusals = gathering.refusals();
      return { refusals, ...(end === "all" || refusals.length === MOST_REFUSALS ? {} : { since: oldest }) };
    },
  };
}

function unread(why: string): RefusalLog {
  return { refusals: [], unread: why };
}

/** A line of sshd's own. */
export interface SshdLine {
  readonly at: Date;
  /** The process that wrote it, of which each connection has one of its own. */
  readonly connection: string;
  readonly message: string;
}

function parseLine(text: string): SshdLine | undefined {
  const line = parseObject(text);
  const message = messageOfSshd(line);
  const at = timeOf(line);
  if (message === undefined || at === undefined) return undefined;
  return { at, message, connection: `${String(line._BOOT_ID)} ${String(line._PID)}` };
}

interface Gathered {
  readonly at: Date;
  from: string;
  /** The newest first. */
  readonly quotes: string[];
}

/**
 * Puts the lines of a log together, the newest first, as connections that ended in a refusal of the account. `add` is false once there
 * are enough. The last line of a connection names the account, so that older ones belong to it without naming it. Exported for tests.
 */
export function gather(name: string) {
  const isRefused = refusalOf(name);
  const opened = new RegExp(`^Accepted \\S+ for ${name} `);
  const found = new Map<string, Gathered>();
  const finished = new Map<string, Date>();
  const kept: Gathered[] = [];
  return {
    add({ at, connection, message }: SshdLine): boolean {
      const isRecent = (then: Date) => then.getTime() - at.getTime() <= LOGIN_TIME;
      const accepted = finished.get(connection);
      if (accepted !== undefined && isRecent(accepted)) return true;
      if (opened.test(message)) finished.set(connection, at);
      const known = found.get(connection);
      const refused = isRefused(message);
      if (known !== undefined && isRecent(known.at)) {
        if (known.from === "") known.from = refused ?? "";
        if (known.quotes.length < MOST_QUOTED && !OF_THE_DROP_IN.test(message)) known.quotes.push(quote(message));
      } else if (refused !== undefined) {
        if (kept.length === MOST_REFUSALS) return false;
        const begun = { at, from: refused, quotes: [quote(message)] };
        found.set(connection, begun);
        kept.push(begun);
      }
      return true;
    },
    refusals(): readonly RefusedLogin[] {
      return kept.map(({ at, from, quotes }) => ({ at, from, why: [...new Set(quotes.toReversed())].join("; ") }));
    },
  };
}

function quote(message: string): string {
  return message.length > LONGEST_QUOTE ? `${message.slice(0, LONGEST_QUOTE)} …` : message;
}

/**
 * Finds the client's address in a line by which sshd refuses the account; "" where the line has none, undefined for any other line. Each form is
 * the whole line, and has no room for more text where sshd writes a name that no account has: anybody may choose that one. Pure.
 */
export function refusalOf(name: string): (message: string) => string | undefined {
  const end = "(?: \\[preauth\\])?$";
  const forms = [
    // auth.c, auth_log() and auth_maxtries_exceeded()
    `^Failed [a-z/-]+ for (?:invalid user )?${name} from (\\S+) port \\d+ ssh2(?:: [A-Z0-9-]+ SHA256:[A-Za-z0-9+/]{43})?${end}`,
    `^(?:error: )?maximum authentication attempts exceeded for (?:invalid user )?${name} from (\\S+) port \\d+ ssh2${end}`,
    // auth.c, getpwnamallow() and allowed_user()
    `^Invalid user ${name} from (\\S+) port \\d+${end}`,
    `^User ${name} from (\\S+) not allowed because [^:]+${end}`,
    `^User ${name} ()not allowed because [^:]+${end}`,
    // auth-options, auth2-pubkeyfile.c
    `^Authentication tried for ${name} with correct key but not from a permitted host \\(host=[^ ,]*, ip=([^ ,]*), required=.*\\)\\.?${end}`,
    // packet.c, sshpkt_fmt_connection_id()
    `^(?:Connection closed by|Connection reset by|Disconnected from|Disconnecting) (?:authenticating|invalid) user ${name} (\\S+) port \\d+${end}`,
    `^Disconnecting authenticating user ${name} (\\S+) port \\d+: [^:]+${end}`,
    // auth2.c
    `^(?:fatal: )?Access denied for user ${name} ()by PAM account configuration${end}`,
  ].map((form) => new RegExp(form));
  return (message) => {
    for (const form of forms) {
      const match = form.exec(message);
      if (match !== null) return isIP(match[1] ?? "") === 0 ? "" : match[1];
    }
    return undefined;
  };
}
