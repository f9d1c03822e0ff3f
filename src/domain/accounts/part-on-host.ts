/** Taking a part of the access away on the host: from some networks, or after an earlier end. */

import type { Account, Host } from "../../protocol/host.ts";
import { publicMessage } from "../../shared/errors.ts";
import type { ClosingOperation } from "../operation/context.ts";
import { refOf } from "./account.ts";
import type { User } from "./find-user.ts";
import { closingHostOf } from "./own-host.ts";

/** How the part is taken away, and how the log says that it failed. */
interface Part {
  readonly take: (host: Host, account: Account) => Promise<readonly string[]>;
  readonly failure: string;
}

/**
 * Returns a sentence for each remaining step; never throws. An account that is shut or missing lets nobody in, and one that is not ours is
 * not touched.
 */
export async function takePartOnHost(
  op: ClosingOperation,
  user: User,
  account: Account,
  { take, failure }: Part,
): Promise<readonly string[]> {
  const { log, requestId } = op.context;
  try {
    if (!account.open) return [];
    const host = await closingHostOf(op.context, user);
    const presence = await host.presence(refOf(user));
    if (presence === "present") return await take(host, account);
    op.record({ detail: { host: presence } });
    return [];
  } catch (error) {
    log.error(failure, { error, requestId });
    return [publicMessage(error)];
  }
}
