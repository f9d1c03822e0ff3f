/** The state of the hosts with agents, in answers about a change that takes access away. */

import * as v from "valibot";
import { count, described, expiry } from "./fields.ts";

export const HostsConfirmation = v.pipe(
  v.object({
    total: count(3),
    confirmed: count(3),
    pending: v.pipe(v.array(described("web1")), v.description("Names of those that have not confirmed, at most 100")),
    effective_by: v.pipe(
      v.nullable(expiry),
      v.description(
        "From then on it is true on every host, even on silent ones: the last lease of those that have not confirmed ends then. Null if one of them has no lease",
      ),
    ),
  }),
  v.title("HostsConfirmation"),
);

/** Where the user has an account on hosts with agents. */
export const hosts = v.optional(HostsConfirmation);

/** A status, and the state of the hosts. */
export function statusOnHosts<const T extends string>(status: T) {
  return v.object({ status: v.literal(status), hosts });
}
