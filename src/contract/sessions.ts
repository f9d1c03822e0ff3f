/** /users/:id/sessions and /users/:id/web-sessions: where a user is logged in. */

import * as v from "valibot";
import { described, IdParams, id, idNumber, listed, statusOf, timestamp } from "./fields.ts";
import { operators, type Routes } from "./route.ts";

const SESSION = "1618033980012345";

export const SessionRecord = v.pipe(
  v.object({
    id: described(SESSION, "Digits that name this connection, and never another one"),
    since: timestamp,
    from: described("192.0.2.7", "The client's address; empty where it is not known"),
    key: v.pipe(
      v.nullable(
        v.object({
          id,
          name: described("laptop"),
          fingerprint: described("SHA256:1B3UCMmezYP6HYhhuY+m0z7uZ8sRqIYhPHcUh9W9eKA"),
        }),
      ),
      v.description("The user's key that opened it, where sshd's own log proves it"),
    ),
  }),
  v.title("SshSession"),
);

/** `:id` is the user's. */
const UserSessionParams = v.object({
  id: idNumber(),
  sessionId: v.pipe(
    v.string(),
    v.regex(/^\d+$/, "must be digits, as the list of sessions shows them"),
    v.metadata({ examples: [SESSION] }),
  ),
});

export const EndedSessions = v.object({
  status: v.literal("ended"),
  sessions: v.pipe(v.number(), v.integer(), v.minValue(0), v.description("How many were open"), v.examples([2])),
});

export const sessions = {
  "GET /users/:id/sessions": {
    operationId: "listUserSessions",
    summary: "List a user's open SSH logins",
    description:
      "Oldest first, and not paged. As the kernel and sshd's own log have it: text that the user could write does not count. One connection is one session, with everything that runs in it.",
    who: operators,
    params: IdParams,
    answer: listed(SessionRecord),
    refusals: { 404: true, 500: "The host could not be asked; trying again may help" },
    reasons: ["user.missing", "host.refused"],
  },
  "DELETE /users/:id/web-sessions": {
    operationId: "endUserWebSessions",
    summary: "Sign a user out",
    description:
      "Ends all sessions of the user with this service, and voids a code that was sent. SSH sessions go on. The user can log in again: to prevent that, disable the user.",
    who: operators,
    params: IdParams,
    answer: EndedSessions,
    refusals: { 404: true },
    reasons: ["user.missing"],
  },
  "DELETE /users/:id/sessions/:sessionId": {
    operationId: "endUserSession",
    summary: "End one SSH login",
    description:
      "Ends the connection and everything that runs in it, and no other. The user can log in again: to prevent that, revoke the key or disable the user.",
    who: operators,
    params: UserSessionParams,
    answer: statusOf("ended"),
    refusals: {
      404: "There is no such user, or the session is no longer open",
      500: "The session could not be ended, or not recorded as ended; the message says which. Disabling the user ends everything",
    },
    reasons: ["user.missing", "connection.missing", "host.refused", "access.owed"],
  },
} as const satisfies Routes;
