/** /removed-admins: those who came in by single sign-on and were removed here. */

import { Elysia } from "elysia";
import { pageRemoved, readmit } from "../../domain/auth/sso/removed.ts";
import { removedRecord } from "../records.ts";
import { requireSession } from "./elysia.ts";
import { RemovedRecord } from "./schemas/sso.ts";
import { IdParams, PageQuery, paged, responses, statusOf } from "./schemas.ts";
import type { Web } from "./web.ts";

export function removedAdminRoutes(web: Web) {
  return new Elysia({ prefix: "/removed-admins" })
    .use(requireSession(web, "admin", "owner"))
    .get(
      "/",
      async ({ context, query }) => {
        const { total, items } = await pageRemoved(context, { page: query.page, pageSize: query.page_size });
        return { data: { total, items: items.map(removedRecord) } };
      },
      {
        query: PageQuery,
        response: responses(paged(RemovedRecord), 400, 401, 403),
        detail: {
          operationId: "listRemovedAdmins",
          summary: "List who does not come in again by single sign-on",
          description: "Administrators who came in by single sign-on and were removed here, newest first.",
        },
      },
    )
    .delete(
      "/:id",
      async ({ context, params }) => {
        await readmit(context, params.id);
        return { data: { status: "readmitted" as const } };
      },
      {
        params: IdParams,
        response: responses(statusOf("readmitted"), 400, 401, 403, 404),
        detail: {
          operationId: "readmitAdmin",
          summary: "Let somebody in again by single sign-on",
          description: "Their next login makes them an administrator again, with the role of their claims.",
        },
      },
    );
}
