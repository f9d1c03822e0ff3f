/** /hosts: the machines that have accounts. */

import type { hosts } from "../../../contract/hosts.ts";
import { pageHostUsers } from "../../../domain/hosts/host-users.ts";
import { getHost, lockHost, pageHosts, unlockHost, updateHost } from "../../../domain/hosts/hosts.ts";
import { previewJoin } from "../../../domain/hosts/previews.ts";
import { previewRetirement, retireHost } from "../../../domain/hosts/retirement.ts";
import { createOwnJoinToken } from "../../../domain/wire/join-tokens.ts";
import {
  fleetPreviewRecord,
  hostDetailRecord,
  hostRecord,
  hostUserRecord,
  joinLineRecord,
  retirementRecord,
} from "../../fleet-records.ts";
import type { Handlers } from "../http/call.ts";
import { isPreview } from "../http/request.ts";

export const hostHandlers: Handlers<typeof hosts> = {
  "GET /hosts": async ({ web, context, query }) => {
    const page = { ...query.page, startedAt: web.startedAt };
    const { total, items } = await pageHosts(context, { ...query, search: query.q }, page);
    return { total, items: items.map((host) => hostRecord(host, context.policy.site)) };
  },

  "GET /hosts/:id": async ({ web, context, params }) =>
    hostDetailRecord(await getHost(context, params.id, web.startedAt), context.policy.site),

  "GET /hosts/:id/users": async ({ context, params, query }) => {
    const { total, items } = await pageHostUsers(context, params.id, query.page);
    return { total, items: items.map((item) => hostUserRecord(item, context.clock.now())) };
  },

  "GET /hosts/:id/preview": async ({ context, params, query }) =>
    fleetPreviewRecord(await previewJoin(context, params.id, query.group)),

  "POST /hosts/tokens": async ({ context, session, body }) => {
    const { password, passkey, ...wanted } = body;
    const line = await createOwnJoinToken(context, session, wanted, { password, passkey });
    return joinLineRecord(line);
  },

  "PATCH /hosts/:id": async ({ context, params, body }) => {
    const { lease_ends: leaseEnds, ...changes } = body;
    return hostDetailRecord(await updateHost(context, params.id, { ...changes, leaseEnds }), context.policy.site);
  },

  "POST /hosts/:id/lock": async ({ context, params }) =>
    hostDetailRecord(await lockHost(context, params.id), context.policy.site),

  "POST /hosts/:id/unlock": async ({ context, params }) =>
    hostDetailRecord(await unlockHost(context, params.id), context.policy.site),

  "DELETE /hosts/:id": async ({ context, params, query }) => {
    const options = { force: query.force === "true" };
    if (isPreview(query)) return fleetPreviewRecord(await previewRetirement(context, params.id, options));
    return retirementRecord(await retireHost(context, params.id, options));
  },
};
