/** /host-groups: hosts that users are given together. */

import { Elysia } from "elysia";
import * as v from "valibot";
import { FleetPreview, HostGroupChanges, HostGroupList, HostGroupRecord, NewHostGroup } from "../../contract/hosts.ts";
import { PreviewQuery } from "../../contract/preview.ts";
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from "../../domain/fleet/groups.ts";
import { previewGroup, previewGroupDelete } from "../../domain/fleet/previews.ts";
import { fleetPreviewRecord, hostGroupRecord } from "../fleet-records.ts";
import { jsonBody, requireSession } from "./elysia.ts";
import { isPreview } from "./request.ts";
import { created, data, IdParams, previewed, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

/** What is read of groups. */
export function hostGroupRoutes(web: Web) {
  return new Elysia({ prefix: "/host-groups" })
    .use(requireSession(web, "admin", "operator"))
    .get("/", async ({ context }) => ({ data: { items: (await listGroups(context)).map(hostGroupRecord) } }), {
      response: responses(data(HostGroupList), 401, 403),
      detail: {
        operationId: "listHostGroups",
        summary: "List groups of hosts",
        description: "By name, and not paged.",
      },
    })
    .get("/:id", async ({ context, params }) => ({ data: hostGroupRecord(await getGroup(context, params.id)) }), {
      params: IdParams,
      response: responses(data(HostGroupRecord), 400, 401, 403, 404),
      detail: { operationId: "getHostGroup", summary: "Read a group of hosts" },
    });
}

/** What owners change of groups. */
export function hostGroupChangeRoutes(web: Web) {
  const parse = jsonBody(web, "admin");
  return new Elysia({ prefix: "/host-groups" })
    .use(requireSession(web, "admin", "owner"))
    .post(
      "/",
      async ({ context, body, status }) => status(201, { data: hostGroupRecord(await createGroup(context, body)) }),
      {
        parse,
        body: NewHostGroup,
        response: created(data(HostGroupRecord), 400, 401, 403, 409),
        detail: {
          operationId: "createHostGroup",
          summary: "Make a group of hosts",
          description: "No user has it yet, so that no account changes.",
          responses: { 409: { description: "The name is taken, or a host is being retired" } },
        },
      },
    )
    .patch(
      "/:id",
      async ({ context, params, query, body }) => {
        const { for_new_users: isDefault, ...changes } = body;
        if (isPreview(query)) {
          return { data: fleetPreviewRecord(await previewGroup(context, params.id, { ...changes, isDefault })) };
        }
        return { data: hostGroupRecord(await updateGroup(context, params.id, { ...changes, isDefault })) };
      },
      {
        parse,
        params: IdParams,
        query: PreviewQuery,
        body: HostGroupChanges,
        response: responses(previewed(FleetPreview, HostGroupRecord), 400, 401, 403, 404, 409),
        detail: {
          operationId: "updateHostGroup",
          summary: "Change a group of hosts",
          description:
            "Only the fields that are sent change; `hosts` are all that it has from then on; `add` and `remove` change some, and do not undo what another request changes at the same time. Its users get an account on each host that joins, and lose the one, with its home, on each that leaves and that they have by nothing else. Ask for a preview first.",
          responses: {
            409: {
              description:
                "The name is taken, a host is being retired, or users would get or lose their account on the service's own host (final)",
            },
          },
        },
      },
    )
    .delete(
      "/:id",
      async ({ context, params, query }) => {
        if (isPreview(query)) return { data: fleetPreviewRecord(await previewGroupDelete(context, params.id)) };
        await deleteGroup(context, params.id);
        return { data: { status: "deleted" as const } };
      },
      {
        params: IdParams,
        query: PreviewQuery,
        response: responses(
          previewed(FleetPreview, v.object({ status: v.literal("deleted") })),
          ...([400, 401, 403, 404, 409] as const),
        ),
        detail: {
          operationId: "deleteHostGroup",
          summary: "Delete a group of hosts",
          description: "Only one that no user has. Its hosts stay.",
          responses: { 409: { description: "Users have the group, or new ones get it" } },
        },
      },
    );
}
