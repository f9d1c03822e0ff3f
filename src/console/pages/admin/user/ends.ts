/** The end of a user's access, and the time of the account's deletion. */

import { later, millisecondsOf } from "../days.ts";
import type { UserRecord } from "./record.ts";

export interface Ends {
  /** `expiry`: it is to come. */
  readonly reason: "expiry" | "expired" | "disabled";
  /** When it ends or ended. */
  readonly at: string;
  /** When the account is deleted; undefined where the recycle period is not known. */
  readonly removedAt: string | undefined;
}

type Dated = Pick<UserRecord, "status" | "expire_at" | "disabled_at">;

/** For a user, and the recycle period as the settings have it. */
export function endsOf({ status, expire_at, disabled_at }: Dated, recyclePeriod: string | undefined): Ends {
  const period = recyclePeriod === undefined ? undefined : millisecondsOf(recyclePeriod);
  const removedAt = period === undefined ? undefined : later(expire_at, period);
  if (status === "disabled") return { reason: "disabled", at: disabled_at ?? expire_at, removedAt };
  return { reason: status === "expired" ? "expired" : "expiry", at: expire_at, removedAt };
}
