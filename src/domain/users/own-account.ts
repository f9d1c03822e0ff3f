/** The facts for users about their own account. */

import type { ServerKey } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { shift } from "../../shared/time/clock.ts";
import type { ApprovalRow } from "../../store/schema.ts";
import { findUser, type User } from "../accounts/find-user.ts";
import { findOwnRequest } from "../accounts/own-requests.ts";
import { findOwnTerms, type OwnTerms } from "../accounts/terms.ts";
import { knownServerKeys } from "../mail/site.ts";
import type { Context, Site } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";

export interface OwnAccount {
  readonly user: User;
  /** When the account is deleted, if nothing changes before then. */
  readonly removedAt: Date;
  readonly site: Site;
  /** None where the host does not tell. */
  readonly serverKeys: readonly ServerKey[];
  /** The newest request for more time that is still of interest. */
  readonly request: ApprovalRow | undefined;
  /** The same for access on request. */
  readonly accessRequest: ApprovalRow | undefined;
  /** None where there are no terms of use. */
  readonly terms: OwnTerms | undefined;
}

/** The user's own account as it is now; throws `unauthorized` for a user who was deleted. */
export async function getOwnAccount(context: Context, userId: number): Promise<OwnAccount> {
  const { autocommit, clock, policy } = context;
  const [user, period, request, accessRequest, serverKeys, terms] = await Promise.all([
    findUser(autocommit, userId),
    readSetting(context, autocommit, "policy.recycle_period"),
    findOwnRequest(autocommit, { userId, kind: "extension" }, clock.now()),
    findOwnRequest(autocommit, { userId, kind: "access_request" }, clock.now()),
    knownServerKeys(context),
    findOwnTerms(autocommit, policy, userId),
  ]);
  if (user === undefined) throw new UamError("unauthorized", "The user of this session was deleted");
  const removedAt = shift(user.expireAt, period);
  return { user, removedAt, site: policy.site, serverKeys, request, accessRequest, terms };
}
