/** /hosts: the machines that have accounts. */

import { Elysia } from "elysia";
import {
  FleetPreview,
  HostChanges,
  HostDetail,
  HostQuery,
  HostRecord,
  JoinLine,
  JoinPreviewQuery,
  JoinRequest,
  RetirementRecord,
  RetireQuery,
} from "../../contract/hosts.ts";
import { getHost, lockHost, pageHosts, unlockHost, updateHost } from "../../domain/fleet/hosts.ts";
import { previewJoin } from "../../domain/fleet/previews.ts";
import { previewRetirement, retireHost } from "../../domain/fleet/retirement.ts";
import { createOwnJoinToken } from "../../domain/fleet/tokens.ts";
import {
  fleetPreviewRecord,
  hostDetailRecord,
  hostRecord,
  joinLineRecord,
  retirementRecord,
} from "../fleet-records.ts";
import { CONFIRMED, confirming } from "./confirming.ts";
import { jsonBody, requireSession } from "./elysia.ts";
import { isPreview } from "./request.ts";
import { created, data, HostIdParams, paged, previewed, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

/** For the document. */
const NOT_THIS_HOST = { description: "Final: it is the service's own host, or it is being retired" };

/** What is read of hosts. */
export function hostRoutes(web: Web) {
  const site = () => web.services.policy.site;
  return new Elysia({ prefix: "/hosts" })
    .use(requireSession(web, "admin", "operator"))
    .get(
      "/",
      async ({ context, query }) => {
        const page = { page: query.page, pageSize: query.page_size, startedAt: web.startedAt };
        const { total, items } = await pageHosts(context, { ...query, search: query.q }, page);
        return { data: { total, items: items.map((host) => hostRecord(host, site())) } };
      },
      {
        query: HostQuery,
        response: responses(paged(HostRecord), 400, 401, 403),
        detail: {
          operationId: "listHosts",
          summary: "List hosts",
          description: "The service's own first, then by name. All given filters must match.",
        },
      },
    )
    .get(
      "/:id",
      async ({ context, params }) => ({
        data: hostDetailRecord(await getHost(context, params.id, web.startedAt), site()),
      }),
      {
        params: HostIdParams,
        response: responses(data(HostDetail), 400, 401, 403, 404),
        detail: {
          operationId: "getHost",
          summary: "Read a host",
          description: "With what is wrong with it, the oldest first.",
        },
      },
    )
    .get(
      "/:id/preview",
      async ({ context, params, query }) => ({
        data: fleetPreviewRecord(await previewJoin(context, params.id, query.group)),
      }),
      {
        params: HostIdParams,
        query: JoinPreviewQuery,
        response: responses(data(FleetPreview), 400, 401, 403, 404, 409),
        detail: {
          operationId: "previewHostGroup",
          summary: "What adding a host to a group would open",
          description: "Changes nothing: the host joins by `PATCH /host-groups/{id}` with `add`.",
        },
      },
    );
}

/** What owners change of hosts. */
export function hostChangeRoutes(web: Web) {
  const parse = jsonBody(web, "admin");
  const site = () => web.services.policy.site;
  return new Elysia({ prefix: "/hosts" })
    .use(requireSession(web, "admin", "owner"))
    .post(
      "/tokens",
      async ({ context, session, body, status }) => {
        const { password, passkey, ...wanted } = body;
        const line = await createOwnJoinToken(context, session, wanted, { password, passkey });
        return status(201, { data: joinLineRecord(line) });
      },
      {
        parse: jsonBody(web, "admin", { optional: true }),
        body: JoinRequest,
        response: created(data(JoinLine), 400, 401, 403, 404, 409, 429),
        detail: {
          operationId: "createJoinToken",
          summary: "Make the line that joins a host",
          description: `Shown only this once, used for one host, and good for 30 minutes. Whoever has it can add a host, which then gets the accounts of its group: keep it to yourself. ${CONFIRMED} A token needs none of that.`,
          responses: confirming,
        },
      },
    )
    .patch(
      "/:id",
      async ({ context, params, body }) => {
        const { lease_ends: leaseEnds, ...changes } = body;
        return { data: hostDetailRecord(await updateHost(context, params.id, { ...changes, leaseEnds }), site()) };
      },
      {
        parse,
        params: HostIdParams,
        body: HostChanges,
        response: responses(data(HostDetail), 400, 401, 403, 404, 409),
        detail: {
          operationId: "updateHost",
          summary: "Change a host's name or lease",
          description: "Only the fields that are sent change. A lease holds from the agent's next request on.",
          responses: { 409: { description: "The name is taken, or it is the service's own host" } },
        },
      },
    )
    .post(
      "/:id/lock",
      async ({ context, params }) => ({ data: hostDetailRecord(await lockHost(context, params.id), site()) }),
      {
        params: HostIdParams,
        response: responses(data(HostDetail), 400, 401, 403, 404, 409),
        detail: {
          operationId: "lockHost",
          summary: "Shut a host as a whole",
          description:
            "Its agent lets nobody in from when it learns of it, within a second as a rule; a host that is cut off shuts at `lease_until`. Its accounts stay.",
          responses: { 409: NOT_THIS_HOST },
        },
      },
    )
    .post(
      "/:id/unlock",
      async ({ context, params }) => ({ data: hostDetailRecord(await unlockHost(context, params.id), site()) }),
      {
        params: HostIdParams,
        response: responses(data(HostDetail), 400, 401, 403, 404, 409),
        detail: {
          operationId: "unlockHost",
          summary: "Open a locked host again",
          description:
            "With what is stored by now. The agent keeps its key: if the host was locked because the key was copied, do this only where you know why, such as a disk that was set back. Otherwise retire the host by force, and join it anew.",
          responses: { 409: NOT_THIS_HOST },
        },
      },
    )
    .delete(
      "/:id",
      async ({ context, params, query }) => {
        const options = { force: query.force === "true" };
        if (isPreview(query)) {
          return { data: fleetPreviewRecord(await previewRetirement(context, params.id, options)) };
        }
        return { data: retirementRecord(await retireHost(context, params.id, options)) };
      },
      {
        params: HostIdParams,
        query: RetireQuery,
        response: responses(previewed(FleetPreview, RetirementRecord), 400, 401, 403, 404, 409),
        detail: {
          operationId: "retireHost",
          summary: "Retire a host",
          description:
            "All its accounts are shut and removed there; once its agent has confirmed that, the host is forgotten. With `force` it is forgotten at once: its accounts stay there, and `effective_by` says until when they may be open.",
          responses: {
            409: {
              description:
                "It has not been heard of lately (start its agent, or use `force`), or it is the service's own host (final)",
            },
          },
        },
      },
    );
}
