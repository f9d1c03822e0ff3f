/** "Can they log in now?": by what is stored, by what the hosts show, and by sshd's own log of refused logins. */

import type { Account } from "../../protocol/host.ts";
import type { LoginFault, RefusalLog, RefusedLogin } from "../../protocol/logins.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { LoginObstacle } from "../../shared/product/login-obstacles.ts";
import { replaceUnprintable, visibleEscape } from "../../shared/text/text.ts";
import { shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Transaction } from "../../store/client.ts";
import { type KeyRow, LOCAL_HOST } from "../../store/schema.ts";
import { accountAt, activeKeys, refOf } from "../accounts/account.ts";
import { type Closing, closingsOf } from "../accounts/closings.ts";
import { isExpired, requireUser, type User } from "../accounts/find-user.ts";
import { listPlaces, type UserHost } from "../hosts/user-hosts.ts";
import { verifyingProfiles } from "../keys/second-factor.ts";
import type { Context } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { byWhom, type Disabling, findDisabling, whyOf } from "./disabling.ts";
import { factorCauses, type KnownKeys, keyFaults, usedKeys } from "./key-causes.ts";
import { stillOpen } from "./still-open.ts";
import { type Cause, hostCauses, ownHostCauses, timedCauses } from "./timed-causes.ts";

export type { Cause } from "./timed-causes.ts";

export interface Diagnosis {
  /** Whether they can log in to at least one host now, as far as the service can see. */
  readonly can: boolean;
  /** Those that keep them out come first, hosts that may let them in all the same last. */
  readonly because: readonly Cause[];
  /** The newest logins to the account that the service's own host refused, the newest first. */
  readonly refused: readonly RefusedLogin[];
  readonly log: ReadLog;
}

/** How much of sshd's log was read. */
export interface ReadLog {
  /** If false, nothing is known about refused logins. */
  readonly read: boolean;
  /** A sentence, which says why none was if so. */
  readonly text: string;
}

/** Whether the user can log in now, and what keeps them from it. Changes nothing. Throws `not_found` without such a user. */
export async function diagnoseUser(context: Context, userId: number): Promise<Diagnosis> {
  const known = await context.db.transaction((tx) => readKnown(context, tx, userId), {
    isolationLevel: "repeatable read",
    accessMode: "read only",
  });
  const { user, keys, account } = known;
  const timed = timedCauses(context, user);
  const stored = [...storedCauses(context, known), ...timed];
  const shutHere = timed.length === 0 ? ownHostCauses(context, user) : [];
  // Where only logins end with the hours, the account stays open, without keys.
  const isOpen = account.open && timed.length === 0 && shutHere.length === 0;
  const local = isOpen && user.local ? await localCauses(context, known) : OPEN;
  const missing = account.open || !user.local ? [] : await presenceCauses(context, user);
  const elsewhere = known.places.filter(({ host, removing }) => host.id !== LOCAL_HOST && !removing);
  const remote =
    isOpen || shutHere.length > 0
      ? elsewhere.map((place) => [
          ...placeCause(place),
          ...hostCauses(context, { ...user, hostHours: place.hours }, place.host.name),
          ...factorCauses(place, known),
        ])
      : [];
  const opensLocal = user.local && context.host.mode !== "none" && !local.blocks && shutHere.length === 0;
  const opens = opensLocal || remote.filter((causes) => causes.length > 0).length < elsewhere.length;
  const narrowed = isOpen ? narrowing(account, keys) : OPEN;
  const nowhere = user.local || elsewhere.length > 0 ? [] : [NOWHERE];
  const outstanding = stillOpen(user, known.places, stored.length > timed.length, context.clock.now());
  const { refused, log } = await refusalsOf(context, user, elsewhere);
  return {
    can: stored.length === 0 && nowhere.length === 0 && !narrowed.blocks && opens,
    because: [
      ...stored,
      ...nowhere,
      ...shutHere,
      ...missing,
      ...local.causes,
      ...remote.flat(),
      ...narrowed.causes,
      ...outstanding,
    ],
    refused,
    log,
  };
}

/** The stored facts, of one moment. */
interface Known extends KnownKeys {
  readonly user: User;
  readonly owed: readonly Closing[];
  readonly places: readonly UserHost[];
  readonly disabling: Disabling | undefined;
  readonly recyclePeriod: number;
}

async function readKnown(context: Context, tx: Transaction, userId: number): Promise<Known> {
  const user = await requireUser(tx, userId);
  const keys = await activeKeys(tx, userId);
  const owed = await closingsOf(tx, userId);
  return {
    ...{ user, keys, owed },
    revoking: new Set(owed.filter(({ kind }) => kind === "revoke").map(({ keyId }) => keyId)),
    account: accountAt(context.clock.now(), user, { keys, owed }),
    asking: await verifyingProfiles(tx, userId),
    places: await listPlaces(context, tx, user),
    disabling: user.disabledAt === null ? undefined : await findDisabling(tx, userId),
    recyclePeriod: await readSetting(context, tx, "policy.recycle_period"),
  };
}

/** The stored facts that keep the user out everywhere. */
function storedCauses(context: Context, known: Known): Cause[] {
  const { user, keys, owed, account, disabling, recyclePeriod } = known;
  const now = context.clock.now();
  const { username, disabledAt, expireAt } = user;
  const causes: Cause[] = [];
  const add = (reason: LoginObstacle, text: string, remedy: string) => causes.push({ reason, text, remedy });
  if (owed.some(({ kind }) => kind === "remove"))
    add("deleting", `${username} is being deleted`, "create the user again once that is done");
  const why = printable(whyOf(disabling));
  if (disabledAt !== null)
    add(
      "disabled",
      `${username} has been disabled since ${formatTimestamp(disabledAt)}${byWhom(disabling)}${why === "" ? "" : `: ${why}`}`,
      `uam user enable ${username}, if the reason no longer holds${why === "" ? ": it is in what was recorded about them" : ""}`,
    );
  if (isExpired(user, now)) {
    const isOver = shift(expireAt, recyclePeriod) <= now;
    const remedy = isOver
      ? "create the user again once the account has been deleted: the recycle period is over"
      : `uam user extend ${username}`;
    add("expired", `Access ended at ${formatTimestamp(expireAt)}`, remedy);
  }
  const shut = owed.find(({ kind }) => kind === "shut");
  if (shut !== undefined && disabledAt === null && !isExpired(user, now))
    add(
      "closing",
      `Access is being taken away${shut.problem === "" ? "" : `: ${shut.problem}`}`,
      "wait until that is done; uam doctor names what is outstanding",
    );
  if (keys.length === 0)
    add(
      "no_keys",
      `${username} has no active key`,
      wasAdoptedWithKeys(context, user)
        ? `uam key found ${username} lists those that were found in the account, to be confirmed; or they add one in the browser, under Keys`
        : "they add one themselves in the browser, under Keys; nobody else can",
    );
  else if (account.open && usedKeys(known).length === 0)
    add("no_keys", "The only keys are being revoked", "they add another one in the browser, under Keys");
  return causes;
}

/** Keys that were found in an account that was taken over count once an administrator confirms them. */
function wasAdoptedWithKeys({ adopter }: Context, { uid }: User): boolean {
  return (adopter?.adoption(uid)?.keys.length ?? 0) > 0;
}

interface OnHost {
  readonly causes: readonly Cause[];
  /** Whether nobody gets in there. */
  readonly blocks: boolean;
}

const OPEN: OnHost = { causes: [], blocks: false };
const NOWHERE: Cause = {
  reason: "no_host",
  text: "They have an account on no host",
  remedy: "give them a host or a group of hosts: uam user hosts NAME --set LIST",
};

/** The causes on the service's own host for an account that is to be open. A host that cannot be asked is named, but blocks nobody. */
async function localCauses({ host }: Context, known: KnownKeys): Promise<OnHost> {
  if (host.mode === "dry-run") {
    const text = "The service runs in dry-run mode: on its host nothing was made, and nobody can log in";
    const remedy = "set UAM_HOST_MODE to direct or sudo: docs/install.md says how";
    return { causes: [{ reason: "dry_run", text, remedy }], blocks: true };
  }
  try {
    const faults = [...(await host.loginFaults(known.account)), ...(await keyFaults(host, known))];
    const sorted = faults.sort((one, other) => Number(other.blocks) - Number(one.blocks));
    return { causes: sorted.map(causeOf), blocks: sorted.some(({ blocks }) => blocks) };
  } catch (error) {
    return { causes: [uncheckedBy(error)], blocks: false };
  }
}

function causeOf({ reason, text, remedy }: LoginFault): Cause {
  return { reason, text: printable(text), remedy: printable(remedy) };
}

function uncheckedBy(error: unknown): Cause {
  if (!(error instanceof UamError)) throw error;
  return { reason: "unchecked", text: printable(publicMessage(error)), remedy: "uam doctor says more" };
}

/** For an account that is shut on purpose, and that cannot be opened again. */
async function presenceCauses({ host }: Context, user: User): Promise<readonly Cause[]> {
  const account = refOf(user);
  const presence = await host.presence(account);
  if (presence === "missing") {
    const remedy = `uam user rebuild ${user.username} recreates it`;
    return [{ reason: "account_missing", text: `The account ${account.name} is missing on the host`, remedy }];
  }
  if (presence === "present") return [];
  const text = `The account ${account.name} on the host, or its uid, is not this service's`;
  return [{ reason: "account_foreign", text, remedy: "an administrator of the host has to sort out whose it is" }];
}

/** The cause that keeps them out of a further host; none if the host has confirmed all changes. */
function placeCause({ host, state, since, problem }: UserHost): readonly Cause[] {
  const { name } = host;
  if (state === "problem") {
    const remedy = `uam host show ${name} says more, and on that host uam agent doctor`;
    return [{ reason: "host_problem", text: printable(`On ${name}: ${problem}`), remedy }];
  }
  if (state === "applied") return [];
  const text = `${name} has not confirmed the change of ${formatTimestamp(since)} yet`;
  return [
    { reason: "host_pending", text, remedy: `wait a few seconds; if it stays so, uam host show ${name} says more` },
  ];
}

/** The networks from which keys may be used. */
function narrowing({ keys: used }: Account, keys: readonly KeyRow[]): OnHost {
  const narrow = used.filter(({ networks }) => networks !== undefined);
  const causes = narrow.map(({ id, networks = [] }): Cause => {
    const name = keys.find((key) => key.id === id)?.name ?? "";
    const text =
      networks.length === 0
        ? `The key "${name}" may be used from nowhere: its networks and the user's have nothing in common`
        : `The key "${name}" may be used only from ${networks.join(", ")}`;
    return {
      reason: "networks",
      text,
      remedy: "if they come from elsewhere, change the user's networks, or they change the key's",
    };
  });
  return { causes, blocks: used.length > 0 && used.every(({ networks }) => networks?.length === 0) };
}

async function refusalsOf(
  { host }: Context,
  user: User,
  elsewhere: readonly UserHost[],
): Promise<Pick<Diagnosis, "refused" | "log">> {
  const others = elsewhere.length === 0 ? "" : ". Further hosts keep their own log: look there with journalctl -u ssh";
  const read = await host.refusals(refOf(user)).catch((error: unknown): RefusalLog => {
    return { refusals: [], unread: uncheckedBy(error).text };
  });
  const { refusals, since, unread } = read;
  const how =
    unread === undefined
      ? since === undefined
        ? "sshd's log on the service's own host was read"
        : `sshd's log on the service's own host was read back to ${formatTimestamp(since)}; older lines were not`
      : `sshd's log was not read: ${unread}`;
  return {
    refused: refusals.map((refused) => ({ ...refused, why: printable(refused.why) })),
    log: { read: unread === undefined, text: how + others },
  };
}

/** Without what a terminal obeys or a reader cannot see: clients choose some of it. */
function printable(text: string): string {
  return replaceUnprintable(text, visibleEscape);
}
