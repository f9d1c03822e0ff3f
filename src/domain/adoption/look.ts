/** What there is of an account that somebody else made, and what would become of it as a user's. */

import { eq } from "drizzle-orm";
import type { Adopter, FoundAccount, FoundKey } from "../../protocol/adoption.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { hostAccountOf, withoutPrefix } from "../../shared/text/account-name.ts";
import { counted } from "../../shared/text/counted.ts";
import type { Database } from "../../store/client.ts";
import { accounts } from "../../store/schema.ts";
import { givenUids } from "../../store/schema-fleet.ts";
import { findUserByName } from "../accounts/find-user.ts";
import { parseUsername } from "../accounts/username.ts";
import type { Context } from "../operation/context.ts";

/** A name that useradd(8) may have made; what is stranger is not looked for. */
const ACCOUNT = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?$/;

/** The account, the username, and who asks. */
export interface LookRequest {
  readonly account: string;
  /** By default the account's name, without the prefix. */
  readonly username?: string | undefined;
  /** Who works at the shell: their own account is never taken from them. */
  readonly operator: string;
}

/** A key that was found, and whether the service could store it. */
export interface SeenKey extends FoundKey {
  readonly path: string;
  /** Why it cannot be stored, as a sentence; undefined if it can. */
  readonly refusal: string | undefined;
}

export interface Look {
  readonly account: FoundAccount;
  readonly username: string;
  readonly keys: readonly SeenKey[];
  /** Why it cannot be adopted, as sentences; none if it can. */
  readonly obstacles: readonly string[];
  /** What would be done, in this order, as sentences. */
  readonly effects: readonly string[];
}

/** Throws `not_found` if the host has no such account, and `invalid` for a username that cannot be one. Changes nothing. */
export async function lookToAdopt(
  { db, policy }: Pick<Context, "db" | "policy">,
  adopter: Adopter,
  { account: name, username: given, operator }: LookRequest,
): Promise<Look> {
  if (!ACCOUNT.test(name)) throw new UamError("invalid", `Not the name of an account: ${JSON.stringify(name)}`);
  const username = parseUsername(given ?? withoutPrefix(name));
  const account = await adopter.look(name, { name: hostAccountOf(username) });
  if (account === undefined) throw new UamError("not_found", `This host has no account ${name}`);
  const keys: SeenKey[] = [];
  const { parsePublicKey } = await import("../keys/public-key.ts");
  for (const { path, keys: found } of account.keyFiles) {
    for (const key of found) {
      let refusal: string | undefined;
      try {
        parsePublicKey(`${key.type} ${key.base64}`, policy.keyTypes);
      } catch (error) {
        refusal = publicMessage(error);
      }
      keys.push({ ...key, path, refusal });
    }
  }
  return {
    account,
    username,
    keys,
    obstacles: [
      ...account.obstacles,
      ...(await storedObstacles(db, account, username)),
      ...ownObstacles(name, operator),
    ],
    effects: effectsOf(account, username, keys),
  };
}

async function storedObstacles(
  db: Database,
  { name, uid }: FoundAccount,
  username: string,
): Promise<readonly string[]> {
  const holders = await db.select({ uid: accounts.uid }).from(accounts).where(eq(accounts.uid, uid)).limit(1);
  const given = await db.select({ uid: givenUids.uid }).from(givenUids).where(eq(givenUids.uid, uid)).limit(1);
  const isTaken = (await findUserByName(db, username)) !== undefined;
  return [
    ...(holders.length === 0 ? [] : [`The uid ${uid} of ${name} is a user's already`]),
    ...(given.length > 0 && holders.length === 0 ? [`The uid ${uid} of ${name} was an earlier user's`] : []),
    ...(isTaken ? [`The username ${username} is taken: give another with --username`] : []),
  ];
}

function ownObstacles(name: string, operator: string): readonly string[] {
  return name === operator ? [`${name} is your own account: somebody else has to do this`] : [];
}

function effectsOf(account: FoundAccount, username: string, keys: readonly SeenKey[]): readonly string[] {
  const { name, uid, home, groups, processes } = account;
  const renamed = hostAccountOf(username);
  const place = `${home.slice(0, home.lastIndexOf("/"))}/${renamed}`;
  return [
    ...(renamed === name ? [] : [`The account is renamed: ${name} becomes ${renamed}, and logs in by that name`]),
    `It keeps its uid ${uid} and its files${place === home ? ` in ${home}` : `; ${home} becomes ${place}`}`,
    ...(account.password === "none" ? [] : ["Its password no longer counts"]),
    ...(groups.length === 0 ? [] : [`It leaves the groups ${groups.join(", ")}`]),
    ...(processes === 0 ? [] : [`What it runs ends (processes: ${processes}), its sessions with it`]),
    "Crontab, at jobs, lingering and subordinate ids go; root keeps a copy of the jobs for 30 days",
    keys.length === 0
      ? "No key is found; the user uploads one"
      : `None of the ${counted(keys.length, "key")} counts until an administrator confirms it`,
    "From then on it is the user's as any other account: deleting the user deletes the account and its home",
  ];
}
