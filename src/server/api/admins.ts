/** /admins: what owners do with administrators. /auth/admin/password: what each does with their own password. */

import { Elysia } from "elysia";
import { AdminChanges, AdminRecord, NewAdmin, PasswordChange } from "../../contract/admins.ts";
import { EndedSessions } from "../../contract/sessions.ts";
import { endAdminSessions, pageAdmins, removeAdmin, updateAdmin } from "../../domain/auth/admin-changes.ts";
import { inviteAdmin } from "../../domain/auth/admin-invitation.ts";
import { changeOwnPassword } from "../../domain/auth/admin-password.ts";
import { confirmCaller } from "../../domain/auth/step-up.ts";
import { adminRecord } from "../records.ts";
import { CONFIRMED, confirming } from "./confirming.ts";
import { jsonBody, requireLogin, requireLoginAs, requireSession } from "./elysia.ts";
import { created, data, IdParams, PageQuery, paged, responses, statusOf } from "./schemas.ts";
import type { Web } from "./web.ts";

/** For the document: why an administrator can be neither removed nor demoted. */
const LAST_OWNER = { description: "Nobody else is an owner who can log in. Final until somebody is" };

export function adminRoutes(web: Web) {
  return new Elysia().use(administratorRoutes(web)).use(wayInRoutes(web)).use(passwordRoutes(web));
}

function administratorRoutes(web: Web) {
  return new Elysia({ prefix: "/admins" })
    .use(requireSession(web, "admin", "owner"))
    .get(
      "/",
      async ({ context, query }) => {
        const { total, items } = await pageAdmins(context, { page: query.page, pageSize: query.page_size });
        return { data: { total, items: items.map(adminRecord) } };
      },
      {
        query: PageQuery,
        response: responses(paged(AdminRecord), 400, 401, 403),
        detail: { operationId: "listAdmins", summary: "List administrators", description: "Newest first." },
      },
    )
    .delete(
      "/:id",
      async ({ context, params }) => {
        await removeAdmin(context, params.id);
        return { data: { status: "deleted" as const } };
      },
      {
        params: IdParams,
        response: responses(statusOf("deleted"), 400, 401, 403, 404, 409),
        detail: {
          operationId: "removeAdmin",
          summary: "Remove an administrator",
          description:
            "Ends all their sessions, revokes their tokens, and voids the tokens for joining hosts and the invitations that they made, unless they are used. What they did stays in the audit log.",
          responses: { 409: LAST_OWNER },
        },
      },
    )
    .delete(
      "/:id/sessions",
      async ({ context, params }) => {
        const sessions = await endAdminSessions(context, params.id);
        return { data: { status: "ended" as const, sessions } };
      },
      {
        params: IdParams,
        response: responses(data(EndedSessions), 400, 401, 403, 404),
        detail: {
          operationId: "endAdminSessions",
          summary: "End an administrator's sessions",
          description: "All that are open, one's own too. Tokens stay; they are revoked one by one.",
        },
      },
    );
}

/** By whom administrators come in, and with which address a link leads to a new password. */
function wayInRoutes(web: Web) {
  const parse = jsonBody(web, "admin");
  return new Elysia({ prefix: "/admins" })
    .use(requireLoginAs(web, "owner"))
    .post(
      "/",
      async ({ context, session, body, status }) => {
        const { username, email, role = "owner", ...confirmation } = body;
        const entry = { action: "admin.create", detail: { username, email, role } } as const;
        await confirmCaller(context, session, confirmation, entry);
        const admin = await inviteAdmin(context, { username, email, role });
        return status(201, { data: adminRecord(admin) });
      },
      {
        parse,
        body: NewAdmin,
        response: created(data(AdminRecord), 400, 401, 403, 409, 429),
        detail: {
          operationId: "inviteAdmin",
          summary: "Add an administrator and mail them a link that sets their password",
          description: `The link works once, within 72 hours. After that they ask for another one at \`/auth/admin/forgot\`, which changes nothing before. ${CONFIRMED}`,
          responses: { ...confirming, 409: { description: "There is an administrator of that name" } },
        },
      },
    )
    .patch(
      "/:id",
      async ({ context, session, params, body }) => {
        const { email, role, ...confirmation } = body;
        const entry = { action: "admin.update", resourceId: String(params.id) } as const;
        await confirmCaller(context, session, confirmation, entry);
        return { data: adminRecord(await updateAdmin(context, params.id, { email, role })) };
      },
      {
        parse,
        params: IdParams,
        body: AdminChanges,
        response: responses(data(AdminRecord), 400, 401, 403, 404, 409, 429),
        detail: {
          operationId: "updateAdmin",
          summary: "Change an administrator's e-mail or role",
          description: `Only the fields that are sent change. A role holds from the next request on, in sessions that are open, too; tokens above it are revoked, and who is no owner any more leaves no token for joining a host and no open invitation. A new address voids a link that was mailed to the old one, and both are told. ${CONFIRMED}`,
          responses: { ...confirming, 409: LAST_OWNER },
        },
      },
    );
}

function passwordRoutes(web: Web) {
  return new Elysia({ prefix: "/auth" }).use(requireLogin(web, "admin")).post(
    "/admin/password",
    async ({ context, session, body }) => {
      await changeOwnPassword(context, session, { present: body.password, next: body.new_password });
      return { data: { status: "changed" as const } };
    },
    {
      parse: jsonBody(web, "admin"),
      body: PasswordChange,
      response: responses(statusOf("changed"), 400, 401, 403, 429),
      detail: {
        operationId: "changeOwnPassword",
        summary: "Change one's own administrator password",
        description:
          "Ends all other sessions of that administrator. A wrong present password counts as a failed login does: repeated ones lock the login for a while.",
        responses: {
          403: { description: "The present password is wrong, or no permission, or sent from another origin" },
        },
      },
    },
  );
}
