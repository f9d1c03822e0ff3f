/** /removed-admins: those who came in by single sign-on and were removed here. */

import { Elysia } from "elysia";
import { Confirmation } from "../../contract/confirmation.ts";
import { RemovedRecord } from "../../contract/sso.ts";
import { pageRemoved, readmit } from "../../domain/auth/sso/removed.ts";
import { confirmCaller } from "../../domain/auth/step-up.ts";
import { removedRecord } from "../records.ts";
import { CONFIRMED, confirming } from "./confirming.ts";
import { jsonBody, requireLoginAs, requireSession } from "./elysia.ts";
import { IdParams, PageQuery, paged, responses, statusOf } from "./schemas.ts";
import type { Web } from "./web.ts";

export function removedAdminRoutes(web: Web) {
  return new Elysia({ prefix: "/removed-admins" }).use(listRoutes(web)).use(readmitRoutes(web));
}

function listRoutes(web: Web) {
  return new Elysia().use(requireSession(web, "admin", "owner")).get(
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
  );
}

function readmitRoutes(web: Web) {
  return new Elysia().use(requireLoginAs(web, "owner")).delete(
    "/:id",
    async ({ context, session, params, body }) => {
      await confirmCaller(context, session, body, { action: "admin.readmit" });
      await readmit(context, params.id);
      return { data: { status: "readmitted" as const } };
    },
    {
      parse: jsonBody(web, "admin", { optional: true }),
      params: IdParams,
      body: Confirmation,
      response: responses(statusOf("readmitted"), 400, 401, 403, 404, 429),
      detail: {
        operationId: "readmitAdmin",
        summary: "Let somebody in again by single sign-on",
        description: `Their next login makes them an administrator again, with the role of their claims. ${CONFIRMED}`,
        responses: confirming,
      },
    },
  );
}
