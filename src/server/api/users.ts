/** /users: what administrators do with external users. */

import { Elysia } from "elysia";
import * as v from "valibot";
import { statusOnHosts } from "../../contract/hosts-confirmation.ts";
import { PreviewQuery, UserPreview } from "../../contract/preview.ts";
import { CreatedUser, Extension, NewUser, UserChanges, UserQuery, UserRecord } from "../../contract/users.ts";
import { awaitHosts } from "../../domain/fleet/confirmation.ts";
import { listUsers } from "../../domain/users/list.ts";
import { previewDelete, previewDisable, previewEnable, previewExtend } from "../../domain/users/preview.ts";
import { updateUser } from "../../domain/users/update.ts";
import { createUser, deleteUser, disableUser, enableUser, extendUser, getUser } from "../../domain/users/users.ts";
import { formatTimestamp } from "../../shared/timestamp.ts";
import { hostsRecord, userPreviewRecord, userRecord } from "../records.ts";
import { jsonBody, requireSession } from "./elysia.ts";
import { otherFailuresAs } from "./errors.ts";
import { isPreview } from "./request.ts";
import { created, data, expiry, IdParams, paged, previewed, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

/** For the document: why a user can be neither disabled nor enabled. */
const ACCOUNT_CONFLICT = {
  description:
    "The user is expired (extend them first), or the host account is missing or is not one that uam made. Final until that changes",
};

export function userRoutes(web: Web) {
  const parse = jsonBody(web, "admin");
  return new Elysia({ prefix: "/users" })
    .use(requireSession(web, "admin", "operator"))
    .get(
      "/",
      async ({ context, query }) => {
        const page = { page: query.page, pageSize: query.page_size };
        const { total, items } = await listUsers(context, { ...query, search: query.q }, page);
        return { data: { total, items: items.map((user) => userRecord(user, context.clock.now())) } };
      },
      {
        query: UserQuery,
        response: responses(paged(UserRecord), 400, 401, 403),
        detail: {
          operationId: "listUsers",
          summary: "List external users",
          description:
            "Newest first, unless `sort` says otherwise. All given filters must match. `q` is searched for as it stands: no character of it is a wildcard.",
        },
      },
    )
    .post(
      "/",
      async ({ context, body, status }) => {
        const input = { ...body, ttlDays: body.ttl_days, sourceNetworks: body.source_networks };
        const user = userRecord(
          await otherFailuresAs("invalid", ["conflict"], createUser(context, input)),
          context.clock.now(),
        );
        return status(201, {
          data: { id: user.id, username: user.username, status: user.status, expire_at: user.expire_at },
        });
      },
      {
        parse,
        body: NewUser,
        response: created(data(CreatedUser), 400, 401, 403, 409),
        detail: {
          operationId: "createUser",
          summary: "Create an external user and the host account",
          description: "A username that is taken, or an account of that name on the host, is a conflict.",
          responses: {
            400: {
              description:
                "The body is invalid (final), or the user could not be created for another reason, which the message names: trying again may help",
            },
            409: { description: "The username is taken, or the host has an account or a home of that name" },
          },
        },
      },
    )
    .get(
      "/:id",
      async ({ context, params }) => ({
        data: userRecord(await otherFailuresAs("not_found", [], getUser(context, params.id)), context.clock.now()),
      }),
      {
        params: IdParams,
        response: responses(data(UserRecord), 400, 401, 403, 404),
        detail: {
          operationId: "getUser",
          summary: "Read an external user",
          description: "Expired users can be read until they are recycled.",
        },
      },
    )
    .patch(
      "/:id",
      async ({ context, params, body }) => {
        const changes = { ...body, sourceNetworks: body.source_networks };
        const user = await otherFailuresAs("invalid", ["not_found"], updateUser(context, params.id, changes));
        return { data: userRecord(user, context.clock.now()) };
      },
      {
        parse,
        params: IdParams,
        body: UserChanges,
        response: responses(data(UserRecord), 400, 401, 403, 404),
        detail: {
          operationId: "updateUser",
          summary: "Change e-mail, supervisor, purpose or networks",
          description:
            "Only the fields that are sent change; an empty text clears supervisor or purpose, an empty list lifts the restriction to networks. Another address ends the user's sessions with this service. When this returns, the authorized-keys file on the host refuses the keys from outside the networks, and SSH sessions from outside have ended. Keys with networks of their own keep what both have in common.",
          responses: {
            400: {
              description:
                "A field is invalid (final), or the user could not be changed for another reason, which the message names: networks that could not be narrowed on the host are stored all the same, and the service keeps trying",
            },
          },
        },
      },
    )
    .post(
      "/:id/disable",
      async ({ context, params, query }) => {
        if (isPreview(query)) return { data: userPreviewRecord(await previewDisable(context, params.id)) };
        const { status } = await disableUser(context, params.id);
        return { data: { status, ...hostsRecord(await awaitHosts(context, params.id)) } };
      },
      {
        params: IdParams,
        query: PreviewQuery,
        response: responses(previewed(UserPreview, statusOnHosts("disabled")), 400, 401, 403, 404, 409),
        detail: {
          operationId: "disableUser",
          summary: "End a user's access at once",
          description:
            "Empties the authorized-keys file and shuts the account; its processes and sessions end. Where the user has an account on hosts with agents, the answer waits a few seconds for them, and `hosts` says what they have confirmed.",
          responses: {
            409: ACCOUNT_CONFLICT,
            500: {
              description:
                "Something could not be done on the host. The message says what holds: if the user is disabled, the service keeps trying to do the rest",
            },
          },
        },
      },
    )
    .post(
      "/:id/enable",
      async ({ context, params, query }) => {
        if (isPreview(query)) return { data: userPreviewRecord(await previewEnable(context, params.id)) };
        return { data: { status: (await enableUser(context, params.id)).status } };
      },
      {
        params: IdParams,
        query: PreviewQuery,
        response: responses(previewed(UserPreview, v.object({ status: v.literal("active") })), 400, 401, 403, 404, 409),
        detail: {
          operationId: "enableUser",
          summary: "Give a disabled user access again",
          description:
            "Restores the authorized-keys file from the stored keys. Sessions with this service from before end.",
          responses: {
            409: ACCOUNT_CONFLICT,
            500: { description: "The host refused; nothing was changed. Trying again may help" },
          },
        },
      },
    )
    .post(
      "/:id/extend",
      async ({ context, params, query, body: { days = 0 } }) => {
        const refusals = ["not_found", "invalid"] as const;
        if (isPreview(query)) {
          const preview = await otherFailuresAs("internal", refusals, previewExtend(context, params.id, days));
          return { data: userPreviewRecord(preview) };
        }
        const extended = await otherFailuresAs("internal", refusals, extendUser(context, params.id, days));
        return { data: { expire_at: formatTimestamp(extended.expireAt) } };
      },
      {
        parse: jsonBody(web, "admin", { optional: true }),
        params: IdParams,
        query: PreviewQuery,
        body: Extension,
        response: responses(previewed(UserPreview, v.object({ expire_at: expiry })), 400, 401, 403, 404),
        detail: {
          operationId: "extendUser",
          summary: "Move a user's expiry",
          description:
            "An expired user returns while the recycle period lasts. A request without a body asks for the default.",
          responses: {
            500: {
              description:
                "The user could not be extended. Final once the recycle period is over; otherwise trying again may help",
            },
          },
        },
      },
    )
    .delete(
      "/:id",
      async ({ context, params, query }) => {
        if (isPreview(query)) return { data: userPreviewRecord(await previewDelete(context, params.id)) };
        await deleteUser(context, params.id);
        return { data: { status: "deleted" as const, ...hostsRecord(await awaitHosts(context, params.id)) } };
      },
      {
        params: IdParams,
        query: PreviewQuery,
        response: responses(previewed(UserPreview, statusOnHosts("deleted")), 400, 401, 403, 404),
        detail: {
          operationId: "deleteUser",
          summary: "Delete a user, the host account, the home directory and the keys",
          description:
            "The audit records are kept. If the host account is already gone, only what is stored is deleted.",
          responses: {
            500: {
              description:
                "The host could not finish: the user is disabled, and the service keeps trying to delete the rest. Final if the host account is not one that uam made: an administrator of the host must sort it out",
            },
          },
        },
      },
    );
}
