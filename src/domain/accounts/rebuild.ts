/** Recreating an account that somebody removed from the host by hand. */

import type { AccountRef, Host } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { auditedGrant } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { requireClosed } from "./access.ts";
import { accountOf, openAccountOf, refOf } from "./account.ts";
import { closingsOf } from "./closings.ts";
import { lockUser, type User } from "./find-user.ts";

/**
 * Recreates the user's account: with its uid, an empty home, and the stored keys and state. First removes the remains of the old
 * account (home, jobs, processes). Throws `conflict` if the account exists, if the host gave its name or uid to another account, or if
 * the user is being deleted. If it fails, the new account is removed again.
 */
export function rebuildAccount(context: Context, userId: number): Promise<User> {
  const entry = { action: "reconcile.repair", resourceId: String(userId), subjectId: userId } as const;
  return auditedGrant(context, entry, async (op) => {
    const { host, clock } = context;
    const user = await lockUser(op.tx, userId);
    const ref = refOf(user);
    op.about({ detail: { username: user.username, found: "the account is missing on the host" } });
    if ((await closingsOf(op.tx, userId)).some(({ kind }) => kind === "remove")) {
      throw new UamError("conflict", `${user.username} is being deleted`);
    }
    if (host.mode === "none")
      throw new UamError("conflict", "This service manages no host of its own: nothing is missing");
    if (!user.local) {
      const sentence = `${user.username} has no account on this host: none of their grants includes it`;
      throw new UamError("conflict", sentence, { reason: "state.conflict" });
    }
    const presence = await host.presence(ref);
    // An account that a crash left half created is made anew.
    if (presence === "present" && (await host.lacking(ref)) !== "rest") {
      throw new UamError(
        "conflict",
        `The host account ${ref.name} exists; uam reconcile repairs what is wrong with it`,
      );
    }
    if (presence === "missing") await clear(host, ref);
    await op.onRollback(async () => {
      if ((await host.presence(ref)) === "present") requireClosed(await host.removeAccount(ref));
    });
    // Refuses a foreign one.
    await host.createAccount(openAccountOf(user, []));
    const account = await accountOf(op.tx, user, clock.now());
    if (account.open) await host.openAccount(account);
    else requireClosed(await host.shutAccount(ref));
    op.record({ detail: { done: "the account was recreated", open: account.open, keys: account.keys.length } });
    return user;
  });
}

/** The refusal of a change to a user without a host account, with the remedy. */
export function accountMissing({ username }: Pick<User, "username">, code: "conflict" | "internal"): UamError {
  const name = hostAccountOf(username);
  return new UamError(
    code,
    `The host account ${name} is missing; on the host, uam user rebuild ${username} recreates it`,
    { reason: "account.missing" },
  );
}

/** Removes the remains of the account, and makes sure that nothing else has taken its name. */
async function clear(host: Host, ref: AccountRef): Promise<void> {
  requireClosed(await host.removeAccount(ref));
  if (await host.nameTaken(ref.name)) {
    throw new UamError(
      "conflict",
      `The host has something else named ${ref.name}: an account, a group or a home directory`,
    );
  }
}
