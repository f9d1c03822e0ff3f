/** Access on request: users ask for it, and end it before its time, as administrators can. */

import type { accessOnRequest } from "../../../../contract/access/on-request.ts";
import { accessAt } from "../../../../domain/accounts/access-state.ts";
import { requestAccess } from "../../../../domain/approvals/access-requests.ts";
import { awaitHosts } from "../../../../domain/hosts/confirmation.ts";
import type { Context } from "../../../../domain/operation/context.ts";
import { endAccess } from "../../../../domain/requests/end.ts";
import { formatTimestamp } from "../../../../shared/time/timestamp.ts";
import { accessRequestRecord } from "../../../hours-records.ts";
import { hostsRecord } from "../../../records.ts";
import type { Handlers } from "../../http/call.ts";

export const accessHandlers: Handlers<typeof accessOnRequest> = {
  "POST /me/access": async ({ context, session, body, reply }) => {
    const by = { userId: session.principal.id, token: session.token };
    const { until, request } = await requestAccess(context, by, body);
    if (request === undefined) return { access: "open", until: formatTimestamp(until) };
    reply.waiting();
    return { access: "on_request", request: accessRequestRecord(request) };
  },

  "DELETE /me/access": async ({ context, session }) => await end(context, session.principal.id),

  "DELETE /users/:id/access": async ({ context, params, query }) => await end(context, params.id, query.reason),
};

async function end(context: Context, userId: number, reason?: string) {
  const { access } = accessAt(await endAccess(context, userId, reason), context.clock.now());
  return {
    access: access === "open" ? ("closed" as const) : access,
    ...hostsRecord(await awaitHosts(context, userId)),
  };
}
