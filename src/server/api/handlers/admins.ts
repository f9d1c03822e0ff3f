/** /admins: what owners do with administrators. /removed-admins: those who came in by single sign-on and were removed here. */

import type { administrators } from "../../../contract/admins.ts";
import {
  endAdminSessions,
  pageAdmins,
  removeAdmin,
  updateAdmin,
} from "../../../domain/auth/administrators/admin-changes.ts";
import { inviteAdmin } from "../../../domain/auth/administrators/admin-invitation.ts";
import { changeOwnPassword } from "../../../domain/auth/administrators/own-password.ts";
import { confirmCaller } from "../../../domain/auth/factors/step-up.ts";
import { pageRemoved, readmit } from "../../../domain/auth/sso/removed.ts";
import { adminRecord, removedRecord } from "../../admin-records.ts";
import type { Handlers } from "../http/call.ts";

export const adminHandlers: Handlers<typeof administrators> = {
  "GET /admins": async ({ context, query }) => {
    const { total, items } = await pageAdmins(context, query.page);
    return { total, items: items.map((admin) => adminRecord(context, admin)) };
  },

  "POST /admins": async ({ context, session, body }) => {
    const { username, email, role = "owner", ...confirmation } = body;
    const entry = { action: "admin.create", detail: { username, email, role } } as const;
    await confirmCaller(context, session, confirmation, entry);
    const admin = await inviteAdmin(context, { username, email, role });
    return adminRecord(context, admin);
  },

  "PATCH /admins/:id": async ({ context, session, params, body }) => {
    const { email, role, ...confirmation } = body;
    const entry = { action: "admin.update", resourceId: String(params.id) } as const;
    await confirmCaller(context, session, confirmation, entry);
    return adminRecord(context, await updateAdmin(context, params.id, { email, role }));
  },

  "DELETE /admins/:id": async ({ context, params }) => {
    await removeAdmin(context, params.id);
    return { status: "deleted" };
  },

  "DELETE /admins/:id/sessions": async ({ context, params }) => {
    const sessions = await endAdminSessions(context, params.id);
    return { status: "ended", sessions };
  },

  "GET /removed-admins": async ({ context, query }) => {
    const { total, items } = await pageRemoved(context, query.page);
    return { total, items: items.map(removedRecord) };
  },

  "DELETE /removed-admins/:id": async ({ context, session, params, body }) => {
    await confirmCaller(context, session, body, { action: "admin.readmit" });
    await readmit(context, params.id);
    return { status: "readmitted" };
  },

  "POST /auth/admin/password": async ({ context, session, body }) => {
    await changeOwnPassword(context, session, { present: body.password, next: body.new_password });
    return { status: "changed" };
  },
};
