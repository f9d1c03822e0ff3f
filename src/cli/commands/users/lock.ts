/** uam lock: shuts an account at once, whether or not the database is there. */

import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { integer } from "@optique/core/valueparser";
import { AGENT_RUN_DIRECTORY } from "../../../agent/paths.ts";
import type { AgentIdentity } from "../../../agent/store.ts";
import type { Config } from "../../../config/config.ts";
import type { AccountRef, Host } from "../../../protocol/host.ts";
import { publicMessage, UamError } from "../../../shared/errors.ts";
import type { Log } from "../../../shared/log.ts";
import type { LockEntry } from "../../../shared/system/lock-journal.ts";
import { hostAccountOf, withoutPrefix } from "../../../shared/text/account-name.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { faultPoint } from "../../../shared/work/fault-point.ts";
import { stored } from "../../terminal/completion.ts";
import {
  type CliEnvironment,
  type Command,
  commandLog,
  EXIT,
  loadConfig,
  withServices,
} from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";

/** The option by which root's own process says that it has shut the account itself. */
export const ALREADY_SHUT = "--already-shut";

export const lockCommand = command(
  "lock",
  map(
    object({
      username: argument(stored("NAME", "users"), { description: message`The user's name.` }),
      alreadyShut: optional(option(ALREADY_SHUT, integer({ metavar: "UID", min: 1 }), { hidden: true })),
    }),
    ({ username, alreadyShut }) => runLock(withoutPrefix(username), alreadyShut),
  ),
  {
    brief: message`Shut an account at once, even with the database down.`,
    description: message`Shuts the account: sets its expiry date in the past, ends its processes and empties its authorized-keys file. Works without the database; the lock is then recorded when the service or uam reconcile next runs, or when the agent of this host next reaches the service. uam user enable opens the account again.`,
  },
);

function runLock(submitted: string, alreadyShut: number | undefined): Command {
  return async (environment) => {
    const config = await loadConfig(environment);
    if (!config.localHost)
      throw new UamError(
        "invalid",
        `UAM_LOCAL_HOST is off, so there is no account to shut here. uam user disable ${submitted} takes the access away`,
      );
    const log = await commandLog(environment, config, config.hostMode !== "dry-run");
    const { parseUsername } = await import("../../../domain/accounts/username.ts");
    const { findIdentity } = await import("../../../agent/store.ts");
    const username = parseUsername(submitted);
    const service = findIdentity(config.dataDir);
    const work = { environment, config, log };
    const isAgent = service !== undefined;
    const { shut, notJournalled } =
      alreadyShut === undefined
        ? await shutAndJournal(work, username, isAgent)
        : { shut: true, notJournalled: await journalFor(work, { username, uid: alreadyShut, isAgent }) };
    if (service !== undefined) return sayReported(environment, { service, shut, notJournalled });
    if (notJournalled !== undefined) await disableAtOnce(environment, username, `${config.dataDir} (${notJournalled})`);
    else if (!(await record(environment, config, log))) return EXIT.failed;
    return shut ? EXIT.done : EXIT.failed;
  };
}

interface Work {
  readonly environment: CliEnvironment;
  readonly config: Config;
  readonly log: Log;
}

interface Shut {
  /** False if the host refused. */
  readonly shut: boolean;
  /** The reason the lock could not be journalled, if it could not. */
  readonly notJournalled: string | undefined;
}

/** On an agent's host the service records it, when it hears of it. */
function sayReported(
  environment: CliEnvironment,
  { service, shut, notJournalled }: Shut & { readonly service: AgentIdentity },
): number {
  if (notJournalled === undefined) {
    environment.err(`It stays shut here. ${service.service} disables the user as soon as it is told.\n`);
    return shut ? EXIT.done : EXIT.failed;
  }
  const again = "Disable the user at the service, or the agent opens the account again";
  throw new UamError("internal", `The lock could not be noted for the service (${notJournalled}). ${again}`);
}

/** None if what is written down of them cannot be read: the lock of an account that the service made needs none of it. */
async function adoptedAccounts(config: Config, log: Log): Promise<readonly AccountRef[]> {
  const compose = await import("../../../server/compose.ts");
  try {
    return compose.adoptedAccounts(config);
  } catch (error) {
    log.warn("what is written down of adopted accounts cannot be read", { error });
    return [];
  }
}

/** Journal first: an account shut without an entry would be opened again by the next reconciliation. */
async function shutAndJournal({ environment, config, log }: Work, username: string, isAgent: boolean): Promise<Shut> {
  const { openHost, policyOf } = await import("../../../server/compose.ts");
  const { openTurn, shutForGood } = await import("../../../agent/turn.ts");
  const shutOn = (host: Host, account: AccountRef) =>
    isAgent
      ? shutForGood(host, account, { turn: openTurn(config.dataDir, environment.runtime.openKernel()) })
      : host.shutAccount(account);
  const { findLockable } = await import("../../../domain/lifecycle/locks.ts");
  const host = await openHost(config, log, environment.runtime);
  const { readState } = await import("../../../agent/store.ts");
  const known = isAgent ? (readState(config.dataDir)?.records ?? []) : await adoptedAccounts(config, log);
  const account = await findLockable(host, policyOf(config), username, known).catch(async (error: unknown) => {
    // Somebody may have taken it out of our group. Then only what is stored tells whose it is.
    const stored = isAgent ? undefined : await findStored(environment, username);
    if (stored === undefined) throw error;
    return await findLockable(host, policyOf(config), username, [stored]);
  });
  const notJournalled = await journalFor({ environment, config, log }, { username, uid: account?.uid, isAgent });
  faultPoint("lock: written down, account open");
  let shut = true;
  if (account !== undefined) {
    try {
      const { refused, owed } = await shutOn(host, account);
      shut = owed.length === 0;
      if (shut && host.mode !== "dry-run") environment.err(`The account ${account.name} is shut.\n`);
      if (!shut) {
        const now = refused ? "cannot log in" : "may still be able to log in";
        environment.err(`uam: The account ${account.name} ${now} and is not completely shut: ${owed.join(". ")}\n`);
      }
    } catch (error) {
      shut = false;
      environment.err(`uam: The account ${account.name} could not be shut: ${publicMessage(error)}\n`);
    }
  }
  faultPoint("lock: account shut, not recorded");
  return { shut, notJournalled };
}

/** The account of that user by the database; undefined without such a user, or without a database. */
async function findStored(environment: CliEnvironment, username: string): Promise<AccountRef | undefined> {
  const { findUserByName } = await import("../../../domain/accounts/find-user.ts");
  try {
    const user = await withServices(environment, "read", async ({ db }) => await findUserByName(db, username));
    return user && { name: hostAccountOf(user.username), uid: user.uid };
  } catch (error) {
    if (error instanceof UamError) return undefined;
    throw error;
  }
}

/** The failure, if any: the account must be shut all the same. */
async function journalFor(
  { environment: { operator }, config }: Work,
  {
    username,
    uid,
    isAgent,
  }: { readonly username: string; readonly uid: number | undefined; readonly isAgent: boolean },
): Promise<string | undefined> {
  const entry = { id: randomUUID(), at: systemClock.now(), username, uid, operator };
  const problem = await journal(entry, config.dataDir);
  // The agent reads that place, too, and it is no disk that could be full.
  return problem !== undefined && isAgent ? await journal(entry, AGENT_RUN_DIRECTORY) : problem;
}

async function journal(entry: LockEntry, directory: string): Promise<string | undefined> {
  const { writeLock } = await import("../../../shared/system/lock-journal.ts");
  const { releaseReserve, reserveIn } = await import("../../../shared/work/reserve.ts");
  for (;;) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o711 });
      writeLock(directory, entry);
      return undefined;
    } catch (error) {
      const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
      if (isFull && releaseReserve(reserveIn(directory))) continue;
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** The last resort if the lock cannot be journalled: otherwise the next reconciliation would open the account again. */
async function disableAtOnce(environment: CliEnvironment, username: string, where: string): Promise<void> {
  const { disableUser } = await import("../../../domain/users/users.ts");
  try {
    await withServices(environment, "change", async (context) => {
      await disableUser(context, (await requireUserReferred(context, username)).id);
    });
  } catch (cause) {
    const why = `The lock could not be written to ${where}, and the user could not be disabled: ${publicMessage(cause)}`;
    throw new UamError("internal", `${why}. Disable the user, or the account will be opened again.`, { cause });
  }
}

/** Records the lock now if the database is there; false if the user is not stored or the host refused. */
async function record(environment: CliEnvironment, config: Config, log: Log): Promise<boolean> {
  const { openServices } = await import("../../../server/compose.ts");
  const { plannedInsteadOf } = await import("../../../domain/hosts/service-mode.ts");
  const { importLocks } = await import("../../../domain/lifecycle/locks.ts");
  try {
    const handle = await openServices(config, log, { lifetime: "command", machine: environment.runtime });
    try {
      const mode = await plannedInsteadOf(handle.services);
      if (mode !== undefined) {
        environment.err(
          `uam: The account is still open: the service here changes the host (UAM_HOST_MODE=${mode}), and this command did not. Run it with the same UAM_ variables; a service that is running shuts the account within a minute\n`,
        );
        return false;
      }
      const failures = await importLocks(handle.services, config.dataDir);
      for (const { problem } of failures) environment.err(`uam: ${problem}\n`);
      if (failures.length === 0) environment.err("The lock is recorded, and the user is disabled.\n");
      return failures.length === 0;
    } finally {
      await handle.close();
    }
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    const what =
      error instanceof UamError && error.code === "invalid"
        ? "The host cannot be managed"
        : "The database cannot be reached";
    environment.err(`${what} now (${why}): the lock will be recorded when the service or uam reconcile next runs.\n`);
    return true;
  }
}
