/** /admins: owners manage administrators. /removed-admins: people who came in by single sign-on and were removed here. */

import * as v from "valibot";
import { PASSWORD_MAX, PASSWORD_MIN } from "../shared/product/password-length.ts";
import { ADMIN_ROLES } from "../shared/product/statuses.ts";
import { ADMIN_NAME } from "../shared/text/person.ts";
import { CONFIRMED, CONFIRMING, Confirmation, confirmation, NOT_CONFIRMED } from "./confirmation.ts";
import { described, IdParams, id, PageQuery, pageOf, statusOf, text, timestamp } from "./fields.ts";
import { adminsThemselves, owners, ownersThemselves, type Routes } from "./route.ts";
import { EndedSessions } from "./sessions.ts";

const role = v.picklist(ADMIN_ROLES);
const email = text("root@example.org", "One address", { format: "email", maxLength: 254 });

const AdminRecord = v.pipe(
  v.object({
    id,
    username: described("root-admin"),
    email: described("root@example.org"),
    role,
    status: v.pipe(
      v.picklist(["active", "invited"]),
      v.description("`invited` until they have set a password with the link that was mailed"),
    ),
    sso: v.pipe(
      v.boolean(),
      v.description("Whether they came in by single sign-on, which gives them their role at each login"),
      v.examples([false]),
    ),
    passkeys: v.pipe(v.number(), v.integer(), v.minValue(0), v.description("How many they have"), v.examples([2])),
    totp: v.pipe(v.boolean(), v.examples([true]), v.description("Whether an authenticator app is set up")),
    factor_missing: v.pipe(
      v.boolean(),
      v.examples([false]),
      v.description("Whether they still have to set up what `UAM_ADMIN_LOGIN` asks of administrators"),
    ),
    created_at: timestamp,
    last_login_at: v.nullable(timestamp),
  }),
  v.title("Admin"),
);

const NewAdmin = v.pipe(
  v.object({
    username: text("root-admin", "1 to 64 characters of a-z, 0-9, dot, _ and -", {
      pattern: ADMIN_NAME.source,
    }),
    email,
    role: v.optional(v.pipe(role, v.description("An owner, where none is given"))),
    ...confirmation,
  }),
  v.title("NewAdmin"),
);

const AdminChanges = v.pipe(
  v.object({ email: v.optional(email), role: v.optional(role), ...confirmation }),
  v.title("AdminChanges"),
);

const PasswordChange = v.pipe(
  v.object({
    password: v.pipe(
      v.string(),
      v.maxLength(1024, "is too long"),
      v.metadata({ description: "The present one", format: "password", examples: ["seven lanterns over cold water"] }),
    ),
    new_password: described("eleven candles under warm sand", "Not a common one, and without the username in it", {
      format: "password",
      minLength: PASSWORD_MIN,
      maxLength: PASSWORD_MAX,
    }),
  }),
  v.title("PasswordChange"),
);

const RemovedRecord = v.pipe(
  v.object({
    id,
    username: described("alice", "The administrator's name, as it was here"),
    issuer: described("https://login.example.org/realms/staff"),
    subject: described("248289761001", "The provider's id for the person"),
    created_at: timestamp,
  }),
  v.title("RemovedAdmin"),
);

/** Why an administrator can be neither removed nor demoted. */
const LAST_OWNER = "Nobody else is an owner who can log in. Final until somebody is";

export const administrators = {
  "GET /admins": {
    operationId: "listAdmins",
    summary: "List administrators",
    description: "Newest first.",
    who: owners,
    query: PageQuery,
    answer: pageOf(AdminRecord),
  },
  "POST /admins": {
    operationId: "inviteAdmin",
    summary: "Add an administrator and mail them a link that sets their password",
    description: `The link works once, within 72 hours. After that they ask for another one at \`/auth/admin/forgot\`, which changes nothing before. ${CONFIRMED}`,
    who: ownersThemselves,
    records: "admin.create",
    body: NewAdmin,
    status: 201,
    answer: AdminRecord,
    refusals: { ...CONFIRMING, 409: "There is an administrator of that name" },
    reasons: [...NOT_CONFIRMED, "admin.taken"],
  },
  "PATCH /admins/:id": {
    operationId: "updateAdmin",
    summary: "Change an administrator's e-mail or role",
    description: `Only the fields that are sent change. A role holds from the next request on, in sessions that are open, too; tokens above it are revoked, and a former owner's tokens for joining a host and open invitations become void. A new address voids a link that was mailed to the old one, and both are told. ${CONFIRMED}`,
    who: ownersThemselves,
    records: "admin.update",
    params: IdParams,
    body: AdminChanges,
    answer: AdminRecord,
    refusals: { ...CONFIRMING, 404: true, 409: LAST_OWNER },
    reasons: [...NOT_CONFIRMED, "admin.missing", "admin.last_owner", "sso.managed"],
  },
  "DELETE /admins/:id": {
    operationId: "removeAdmin",
    summary: "Remove an administrator",
    description:
      "Ends all their sessions, revokes their tokens, and voids the tokens for joining hosts and the invitations that they made, unless they are used. Their actions stay in the audit log.",
    who: owners,
    params: IdParams,
    answer: statusOf("deleted"),
    refusals: { 404: true, 409: LAST_OWNER },
    reasons: ["admin.missing", "admin.last_owner"],
  },
  "DELETE /admins/:id/sessions": {
    operationId: "endAdminSessions",
    summary: "End an administrator's sessions",
    description: "All that are open, one's own too. Tokens stay; they are revoked one by one.",
    who: owners,
    params: IdParams,
    answer: EndedSessions,
    refusals: { 404: true },
    reasons: ["admin.missing"],
  },
  "GET /removed-admins": {
    operationId: "listRemovedAdmins",
    summary: "List people who may not come in again by single sign-on",
    description: "Administrators who came in by single sign-on and were removed here, newest first.",
    who: owners,
    query: PageQuery,
    answer: pageOf(RemovedRecord),
  },
  "DELETE /removed-admins/:id": {
    operationId: "readmitAdmin",
    summary: "Let somebody in again by single sign-on",
    description: `Their next login makes them an administrator again, with the role of their claims. ${CONFIRMED}`,
    who: ownersThemselves,
    records: "admin.readmit",
    params: IdParams,
    body: Confirmation,
    bodyAs: "optional",
    answer: statusOf("readmitted"),
    refusals: { ...CONFIRMING, 404: true },
    reasons: [...NOT_CONFIRMED, "admin.missing"],
  },
  "POST /auth/admin/password": {
    operationId: "changeOwnPassword",
    summary: "Change one's own administrator password",
    description:
      "Ends all other sessions of that administrator. A wrong current password counts as a failed login: repeated ones lock the login for a while.",
    who: adminsThemselves,
    records: "auth.admin_password",
    body: PasswordChange,
    answer: statusOf("changed"),
    refusals: { 403: "The current password is wrong, or no permission, or sent from another origin" },
    reasons: ["password.wrong", "password.weak", "login.locked", "service.busy"],
  },
} as const satisfies Routes;
