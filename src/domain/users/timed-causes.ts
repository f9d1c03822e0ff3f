/** What start, hours and access on request keep shut, for whoever asks why a user cannot log in. */

import type { LoginObstacle } from "../../shared/product/login-obstacles.ts";
import { LOCAL_NAME } from "../../shared/text/host-name.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { accessAt, atOwnHost } from "../accounts/access-state.ts";
import type { User } from "../accounts/find-user.ts";
import type { Context } from "../operation/context.ts";

/** Something that keeps the user out; or, where they can log in all the same, that lets in less than is stored. */
export interface Cause {
  readonly reason: LoginObstacle;
  /** A sentence without a full stop, as is the remedy. */
  readonly text: string;
  readonly remedy: string;
}

/** What start, hours and access on request keep shut at this moment, everywhere. */
export function timedCauses({ clock }: Pick<Context, "clock">, user: User): readonly Cause[] {
  const { username, startsAt, requestRule } = user;
  const { access, changesAt } = accessAt(user, clock.now());
  const hours = `uam user hours ${username} lists when it is open`;
  if (access === "not_yet") {
    const begins = changesAt ?? startsAt;
    const text = begins === null ? "The start has not come" : `Access begins at ${formatTimestamp(begins)}`;
    return [{ reason: "not_yet", text, remedy: `wait, or bring it forward: uam user update ${username} --from TIME` }];
  }
  if (access === "outside_hours") {
    const next = changesAt === null ? "none are left" : `the next begin at ${formatTimestamp(changesAt)}`;
    const text = `It is outside the hours of ${username}, or of their company; ${next}`;
    return [{ reason: "outside_hours", text, remedy: `wait, or uam user update ${username} --hours HOURS: ${hours}` }];
  }
  if (access !== "on_request") return [];
  const then =
    requestRule === "self" ? "" : `, and ${requestRule === "sponsor" ? "their sponsor" : "a reviewer"} allows it`;
  const text = "Access is on request, and none is allowed now";
  return [{ reason: "on_request", text, remedy: `they ask for it on their page${then}` }];
}

/** What the hours of its groups keep shut on the service's own host alone. */
export function ownHostCauses(context: Pick<Context, "clock">, user: User): readonly Cause[] {
  return user.local ? hostCauses(context, atOwnHost(user), LOCAL_NAME) : [];
}

/** What the hours of its groups keep shut on one host alone, where the user's own are open. */
export function hostCauses(
  { clock }: Pick<Context, "clock">,
  user: User & { readonly hostHours?: string | null | undefined },
  host: string,
): readonly Cause[] {
  const { access, changesAt } = accessAt(user, clock.now());
  if (access !== "outside_hours") return [];
  const next = changesAt === null ? "none are left" : `the next begin at ${formatTimestamp(changesAt)}`;
  const text = `On ${host} it is outside the hours of a group of hosts; ${next}`;
  const remedy = "wait, or uam host group update GROUP --hours HOURS: uam host group list names the groups";
  return [{ reason: "outside_hours", text, remedy }];
}
