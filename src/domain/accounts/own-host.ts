/** The service's own host, as far as a user has an account there: for whoever has none, nothing is created, written or shut on it. */

import { ABSENT_HOST } from "../../protocol/absent-host.ts";
import type { Host } from "../../protocol/host.ts";
import type { Services } from "../operation/context.ts";
import { refOf } from "./account.ts";
import type { User } from "./find-user.ts";

type WithHost = Pick<Services, "host">;

/** Where to give access: the host, or one on which there is nothing to do. */
export function hostOf({ host }: WithHost, { local }: Pick<User, "local">): Host {
  return local ? host : ABSENT_HOST;
}

/**
 * Where to take access away. That a user should have no account on the host is not enough to leave it alone: one that is there all the same,
 * by name and uid, is closed as any other.
 */
export async function closingHostOf({ host }: WithHost, user: Pick<User, "local" | "username" | "uid">): Promise<Host> {
  if (user.local) return host;
  // A dry run says of every account that it is there.
  return host.mode !== "dry-run" && (await host.presence(refOf(user))) === "present" ? host : ABSENT_HOST;
}
