/** The service's own host for users with an account there. For other users nothing is created, written or shut on it. */

import { ABSENT_HOST } from "../../protocol/absent-host.ts";
import type { Account, Host } from "../../protocol/host.ts";
import type { Services } from "../operation/context.ts";
import { refOf } from "./account.ts";
import type { User } from "./find-user.ts";

type WithHost = Pick<Services, "host">;

/** The host on which to give access; for a user without an account there, one with nothing to do. */
export function hostOf({ host }: WithHost, { local }: Pick<User, "local">): Host {
  return local ? host : ABSENT_HOST;
}

/** Gives an account its keys there. One that is shut gets them when it is opened. */
export async function giveKeys(context: WithHost, user: Pick<User, "local">, account: Account): Promise<void> {
  if (account.open) await hostOf(context, user).writeKeys(account);
}

/**
 * The host on which to take access away. A user without a grant may still have an account there, by name and uid: that is closed like any
 * other.
 */
export async function closingHostOf({ host }: WithHost, user: Pick<User, "local" | "username" | "uid">): Promise<Host> {
  if (user.local) return host;
  // A dry run reports every account as present.
  return host.mode !== "dry-run" && (await host.presence(refOf(user))) === "present" ? host : ABSENT_HOST;
}
