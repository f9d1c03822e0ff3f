/** SSH sessions in sudo mode: the service asks this very program, run as root, because only root can see the evidence. */

import type { AccountRef } from "../../protocol/host.ts";
import type { Login, RefusalLog, RefusedLogin } from "../../protocol/logins.ts";
import { UamError } from "../../shared/errors.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import type { Kernel } from "../../shared/system/kernel.ts";
import { presenceIn, readAccounts, requireRef } from "../account.ts";
import type { Connection, HostSessions } from "../executor.ts";
import { openJournal } from "../processes/journal.ts";
import { openLoginLog } from "../processes/login-log.ts";
import { openRefusalLog } from "../processes/refused-logins.ts";
import { createOwnSessions } from "./direct.ts";
import {
  endSessionCommand,
  loginsCommand,
  refusalsCommand,
  type SudoCommand,
  sessionsCommand,
} from "./sudo-commands.ts";
import { runSudo } from "./sudo-run.ts";

/** Stands for the beginning of the journal: no place in it is this text. */
const BEGINNING = "\0";

/** The service's side: `uam host …` through sudo, and its answers read back. */
export function createSudoSessions(log: Log, program: readonly string[]): HostSessions {
  return {
    async list(account) {
      const listed = await ask<readonly Stored<Connection>[]>(sessionsCommand(account, program));
      return listed.map(({ since, fingerprint, ...rest }) => ({
        ...rest,
        since: new Date(since as string),
        fingerprint: fingerprint as string | undefined,
      }));
    },
    async end(account, id) {
      log.debug("host: end an SSH session", { account: account.name, session: id });
      // Only what the rules allow is asked for; no session has another id.
      if (!/^\d{8,22}$/.test(id)) return "gone";
      return await ask<"ended" | "gone">(endSessionCommand(account, id, program));
    },
    async logins(from) {
      const place = Buffer.from(from === "" ? BEGINNING : from, "utf8").toString("hex");
      const read = await ask<{ logins: readonly Stored<Login>[]; next: string }>(loginsCommand(place, program));
      return { logins: read.logins.map((login) => ({ ...login, at: new Date(login.at) }) as Login), next: read.next };
    },
    async refusals(account) {
      const read = await ask<Omit<RefusalLog, "refusals" | "since"> & StoredRefusals>(
        refusalsCommand(account, program),
      );
      const refusals = read.refusals.map((refused) => ({ ...refused, at: new Date(refused.at) }) as RefusedLogin);
      const { since, unread } = read;
      return {
        refusals,
        ...(since === undefined ? {} : { since: new Date(since) }),
        ...(unread === undefined ? {} : { unread }),
      };
    },
  };
}

/** As it is in JSON. */
type Stored<T> = { readonly [K in keyof T]: T[K] extends Date ? string : T[K] };

interface StoredRefusals {
  readonly refusals: readonly Stored<RefusedLogin>[];
  readonly since?: string;
}

/** Throws `internal` with what the program says on standard error. */
async function ask<T>(command: SudoCommand): Promise<T> {
  const { exitCode, stdout, stderr } = await runSudo(command);
  if (exitCode === 0) return JSON.parse(stdout) as T;
  const said = stderr
    .trim()
    .split("\n")
    .at(-1)
    ?.replace(/^uam: /, "");
  throw new UamError("internal", said || `The host's sessions cannot be looked at: exit code ${exitCode}`);
}

/**
 * Root's side: the sessions of an account, by name and uid, as a JSON value of `createSudoSessions`. Of an account that is not
 * ours, whatever the service asks for, none is listed or ended.
 */
export function rootSessions(kernel: Kernel) {
  const own = ownSessions(kernel);
  const isOurs = (account: AccountRef): boolean => {
    requireRef(account);
    return presenceIn(readAccounts(), account) === "present";
  };
  return {
    list: async (account: AccountRef) => (isOurs(account) ? await own.list(account) : []),
    end: async (account: AccountRef, id: string) => (isOurs(account) ? await own.end(account, id) : "gone"),
    // Strangers' names are in the log, too, but not with our prefix.
    refusals: async (account: AccountRef): Promise<RefusalLog> => {
      requireRef(account);
      return await own.refusals(account);
    },
  };
}

/** Root's side: the logins that the journal has from that place on. */
export async function rootLogins(kernel: Kernel, place: string) {
  const from = Buffer.from(place, "hex").toString("utf8");
  return await ownSessions(kernel).logins(from === BEGINNING ? "" : from);
}

function ownSessions(kernel: Kernel): HostSessions {
  const logs = { loginLog: openLoginLog(undefined), refusalLog: openRefusalLog(undefined) };
  return createOwnSessions({ kernel, journal: openJournal(undefined), ...logs }, silentLog);
}
