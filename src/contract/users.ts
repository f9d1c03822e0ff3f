/** /users: administrators manage external users. */

import * as v from "valibot";
import { expiry, IdParams, pageOf, timestamp } from "./fields.ts";
import { hosts, statusOnHosts } from "./hosts-confirmation.ts";
import { PreviewQuery, previewed, UserPreview } from "./preview.ts";
import {
  ACCOUNT,
  COMPANY,
  EXPORT_REFUSALS,
  EXPORTED,
  EXTENDED,
  FILE_SENT,
  NEW_ACCOUNT,
  operators,
  PROFILE,
  type Routes,
  SPONSOR,
} from "./route.ts";
import { CreatedUser, DeletionQuery, NewUser, UserChanges } from "./users/bodies.ts";
import { Extension, Reason } from "./users/changes.ts";
import { UserDiagnosis } from "./users/diagnosis.ts";
import { HoursQuery, UserHours } from "./users/hours.ts";
import {
  ChangedUserPreview,
  ListedUser,
  OneUser,
  SupervisorList,
  SupervisorQuery,
  UserExportQuery,
  UserQuery,
  UserRecord,
} from "./users/lists.ts";

/** In answers to requests that have `unchanged_since`. */
const undoing = v.optional(
  v.pipe(timestamp, v.description("After `unchanged_since`: with this as the next one, the change can be undone")),
);

/** Why a user can be neither disabled nor enabled. */
const ACCOUNT_CONFLICT =
  "The user is expired (extend them first) or was changed since the moment in `unchanged_since`, the host account is missing or is not one that uam made, or the user's company has ended. Final until that changes";

export const users = {
  "GET /users": {
    operationId: "listUsers",
    summary: "List external users",
    description:
      "Newest first, unless `sort` says otherwise. All given filters must match. `q` is searched for literally: no character is a wildcard.",
    who: operators,
    query: UserQuery,
    answer: pageOf(ListedUser),
  },
  "POST /users": {
    operationId: "createUser",
    summary: "Create an external user and the host account",
    description:
      "A username that is taken, or an account of that name on the host, is a conflict. Without `ttl_days` or networks the user of a company gets what it allows.",
    who: operators,
    records: "user.create",
    body: NewUser,
    status: 201,
    answer: CreatedUser,
    refusals: {
      400: "The body is invalid (final), or the user could not be created for another reason, which the message names: trying again may help",
      409: "The username is taken, the host has an account or a home of that name, the company is full or has ended, or everybody needs a sponsor, or the profile does not fit a group's or the host",
    },
    otherwise: 400,
    reasons: [
      ...NEW_ACCOUNT,
      ...COMPANY,
      ...SPONSOR,
      ...PROFILE,
      "user.taken",
      "network.invalid",
      "host_group.missing",
    ],
  },
  "GET /users/supervisors": {
    operationId: "listSupervisors",
    summary: "List the supervisors that users have",
    description: "At most 50 of them; whoever has most users comes first.",
    who: operators,
    query: SupervisorQuery,
    answer: SupervisorList,
  },
  "GET /users/export": {
    operationId: "exportUsers",
    summary: "Export external users as CSV or JSON lines",
    description: `Whoever matches all given filters when it begins, in the order of the list. ${EXPORTED} In CSV a list is its entries with a space between them.`,
    who: operators,
    query: UserExportQuery,
    success: FILE_SENT,
    refusals: EXPORT_REFUSALS,
    reasons: ["service.busy", "audit.unrecorded"],
  },
  "GET /users/:id": {
    operationId: "getUser",
    summary: "Read an external user",
    description: "Expired users can be read until they are recycled.",
    who: operators,
    params: IdParams,
    answer: OneUser,
    refusals: { 404: true },
    otherwise: 404,
    reasons: ["user.missing"],
  },
  "GET /users/:id/diagnosis": {
    operationId: "diagnoseUser",
    summary: "Find out whether a user can log in by SSH now, and why not",
    description:
      "Looks at what is stored, at the service's own host, at what further hosts have confirmed, and at sshd's log on the service's own host. Changes nothing. `can` is true if at least one host lets them in; `because` then names what is restricted. A host that has not confirmed that access was taken away, and may still let them in, is among `because` as `host_open`. What sshd said is quoted: clients choose a part of it.",
    who: operators,
    params: IdParams,
    answer: UserDiagnosis,
    refusals: { 404: true, 500: "The host could not be asked; trying again may help" },
    reasons: ["user.missing", "host.refused"],
  },
  "PATCH /users/:id": {
    operationId: "updateUser",
    summary: "Change e-mail, full name, supervisor, sponsor, purpose, note, company, profile, networks, start or hours",
    description:
      "Only the fields that are sent change; an empty text clears full name, supervisor, purpose or note, an empty list lifts the restriction to networks. Another address ends the user's sessions with this service. When this returns, the authorized-keys file on the host refuses the keys from outside the networks, and SSH sessions from outside have ended. Keys with networks of their own keep what both have in common. Hours are in force when this returns: sessions that are open outside them have ended, and sshd itself refuses the keys from the end of each window on. With a profile that allows less, or something else, every session and process of the account ends. Where networks, hours or profile allow less, and the user has an account on hosts with agents, the answer waits a few seconds for them, and `hosts` says what they have confirmed. Networks are changed in a request of their own. Ask for a preview first: it says who is logged in and is ended, and on which hosts.",
    who: operators,
    records: "user.update",
    params: IdParams,
    query: PreviewQuery,
    body: UserChanges,
    answer: previewed(ChangedUserPreview, v.pipe(v.object({ ...UserRecord.entries, hosts }), v.title("ChangedUser"))),
    refusals: {
      400: "A field is invalid (final), or the user could not be changed for another reason, which the message names: networks that could not be narrowed on the host, and hours that it does not follow yet, are stored all the same, and the service keeps trying",
      404: true,
      409: "The company is full or has ended, theirs is being ended, everybody needs a sponsor, or access has begun, so that its start cannot be moved, or the profile does not fit a group's or the host",
    },
    otherwise: 400,
    reasons: [
      ...ACCOUNT,
      ...COMPANY,
      ...SPONSOR,
      ...PROFILE,
      ...(["user.missing", "network.invalid", "state.conflict", "access.owed", "user.started"] as const),
      "host_group.missing",
    ],
  },
  "GET /users/:id/hours": {
    operationId: "listUserHours",
    summary: "List when a user's access is open",
    description:
      "As moments, by start, end and hours, whether or not the user is disabled. Windows that touch are one, and those that reach beyond `from` or `to` are cut there.",
    who: operators,
    params: IdParams,
    query: HoursQuery,
    answer: UserHours,
    refusals: { 404: true },
    reasons: ["user.missing", "host.missing"],
  },
  "POST /users/:id/disable": {
    operationId: "disableUser",
    summary: "End a user's access at once",
    description:
      "Empties the authorized-keys file and shuts the account; its processes and sessions end. Where the user has an account on hosts with agents, the answer waits a few seconds for them, and `hosts` says what they have confirmed.",
    who: operators,
    params: IdParams,
    query: PreviewQuery,
    body: Reason,
    bodyAs: "optional",
    records: "user.disable",
    answer: previewed(UserPreview, v.object({ ...statusOnHosts("disabled").entries, updated_at: undoing })),
    refusals: {
      404: true,
      409: ACCOUNT_CONFLICT,
      500: "Something could not be done on the host. The message says what holds: if the user is disabled, the service keeps trying to do the rest",
    },
    reasons: [
      "user.missing",
      "user.changed",
      "user.expired",
      "account.missing",
      "account.foreign",
      "host.refused",
      "access.owed",
    ],
  },
  "POST /users/:id/enable": {
    operationId: "enableUser",
    summary: "Give a disabled user access again",
    description: "Restores the authorized-keys file from the stored keys. Sessions with this service from before end.",
    who: operators,
    params: IdParams,
    query: PreviewQuery,
    body: Reason,
    bodyAs: "optional",
    records: "user.enable",
    answer: previewed(UserPreview, v.object({ status: v.literal("active"), updated_at: undoing })),
    refusals: { 404: true, 409: ACCOUNT_CONFLICT, 500: "The host refused; nothing was changed. Trying again may help" },
    reasons: [
      ...ACCOUNT,
      "user.missing",
      "user.changed",
      "user.expired",
      "user.deleting",
      "user.disabling",
      "company.ended",
      "company.limit",
    ],
  },
  "POST /users/:id/extend": {
    operationId: "extendUser",
    summary: "Move a user's expiry",
    description:
      "An expired user returns while the recycle period lasts. A request without a body asks for the default. With an `until` that is earlier than the present end, access ends sooner: it is refused from then on by sshd itself when this returns; what runs goes on until then. Where the user has an account on hosts with agents, that answer waits a few seconds for them, and `hosts` says what they have confirmed.",
    who: operators,
    records: "user.extend",
    params: IdParams,
    query: PreviewQuery,
    body: Extension,
    bodyAs: "optional",
    answer: previewed(
      UserPreview,
      v.object({
        expire_at: expiry,
        old_expire_at: v.optional(
          v.pipe(
            timestamp,
            v.description("As it was before, after `unchanged_since`; sent back as `until`, it undoes the change"),
          ),
        ),
        updated_at: undoing,
        hosts,
      }),
    ),
    refusals: {
      400: "The body is invalid, or names a moment that is not in the future or too far in it. Final",
      404: true,
      409: "The user was changed since the moment in `unchanged_since`, somebody else is moving the same end, or the user's company, or its contract, has ended",
      500: "The user could not be extended. Final once the recycle period is over; otherwise trying again may help. An earlier end is stored even so, and the service keeps trying to do the rest",
    },
    otherwise: 500,
    reasons: [...ACCOUNT, ...EXTENDED, "user.changed", "access.owed", "state.conflict"],
  },
  "DELETE /users/:id": {
    operationId: "deleteUser",
    summary: "Delete a user, the host account, the home directory and the keys",
    description: "The audit records are kept. If the host account is already gone, only the stored data is deleted.",
    who: operators,
    params: IdParams,
    query: DeletionQuery,
    answer: previewed(UserPreview, statusOnHosts("deleted")),
    refusals: {
      404: true,
      500: "The host could not finish: the user is disabled, and the service keeps trying to delete the rest. Final if the host account is not one that uam made: an administrator of the host must sort it out",
    },
    reasons: ["user.missing", "host.refused", "access.owed"],
  },
} as const satisfies Routes;
