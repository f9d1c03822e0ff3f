/** /users/:id/keys and /users/:id/sessions: what administrators see and end of a user's access. */

import { Elysia } from "elysia";
import { EndedSessions } from "../../contract/admins.ts";
import { KeyList, RevokedKey, UserKeyParams } from "../../contract/keys.ts";
import { SessionList, UserSessionParams } from "../../contract/sessions.ts";
import { awaitHosts } from "../../domain/fleet/confirmation.ts";
import { listKeys, revokeKey } from "../../domain/keys/keys.ts";
import { endSshSession, listSshSessions } from "../../domain/users/ssh-sessions.ts";
import { endWebSessions } from "../../domain/users/web-sessions.ts";
import { hostsRecord, keyRecord, sessionRecord } from "../records.ts";
import { requireSession } from "./elysia.ts";
import { data, IdParams, responses, statusOf } from "./schemas.ts";
import type { Web } from "./web.ts";

export function userAccessRoutes(web: Web) {
  return new Elysia({ prefix: "/users" })
    .use(requireSession(web, "admin", "operator"))
    .get(
      "/:id/keys",
      async ({ context, params }) => ({ data: { items: (await listKeys(context, params.id)).map(keyRecord) } }),
      {
        params: IdParams,
        response: responses(data(KeyList), 400, 401, 403, 404),
        detail: {
          operationId: "listUserKeys",
          summary: "List a user's active keys",
          description: "Oldest first, and not paged.",
        },
      },
    )
    .delete(
      "/:id/keys/:keyId",
      async ({ context, params }) => {
        const key = keyRecord(await revokeKey(context, params.id, params.keyId));
        return { data: { ...key, ...hostsRecord(await awaitHosts(context, params.id)) } };
      },
      {
        params: UserKeyParams,
        response: responses(data(RevokedKey), 400, 401, 403, 404),
        detail: {
          operationId: "revokeUserKey",
          summary: "Revoke a user's key at once",
          description:
            "As `DELETE /me/keys/{id}`: when this returns, the key is out of the authorized-keys file and its sessions have ended. The user is mailed.",
          responses: {
            500: {
              description:
                "The key could not be revoked cleanly. The message says what holds: if the user was disabled, the key no longer works",
            },
          },
        },
      },
    )
    .get(
      "/:id/sessions",
      async ({ context, params }) => ({
        data: { items: (await listSshSessions(context, params.id)).map(sessionRecord) },
      }),
      {
        params: IdParams,
        response: responses(data(SessionList), 400, 401, 403, 404),
        detail: {
          operationId: "listUserSessions",
          summary: "List a user's open SSH logins",
          description:
            "Oldest first, and not paged. As the kernel and sshd's own log have it: nothing that the user could write counts. One connection is one session, whatever runs in it.",
          responses: { 500: { description: "The host could not be asked; trying again may help" } },
        },
      },
    )
    .delete(
      "/:id/web-sessions",
      async ({ context, params }) => {
        const sessions = await endWebSessions(context, params.id);
        return { data: { status: "ended" as const, sessions } };
      },
      {
        params: IdParams,
        response: responses(data(EndedSessions), 400, 401, 403, 404),
        detail: {
          operationId: "endUserWebSessions",
          summary: "Sign a user out",
          description:
            "Ends all sessions of the user with this service, and voids a code that was sent. SSH sessions go on. The user can log in again: to prevent that, disable the user.",
        },
      },
    )
    .delete(
      "/:id/sessions/:sessionId",
      async ({ context, params }) => {
        await endSshSession(context, params.id, params.sessionId);
        return { data: { status: "ended" as const } };
      },
      {
        params: UserSessionParams,
        response: responses(statusOf("ended"), 400, 401, 403, 404),
        detail: {
          operationId: "endUserSession",
          summary: "End one SSH login",
          description:
            "Ends the connection and what runs in it, and no other. The user can log in again: to prevent that, revoke the key or disable the user.",
          responses: {
            404: { description: "There is no such user, or the session is no longer open" },
            500: {
              description:
                "The session could not be ended, or not recorded as ended; the message says which. Disabling the user ends everything",
            },
          },
        },
      },
    );
}
