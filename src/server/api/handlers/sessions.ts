/** /users/:id/sessions and /users/:id/web-sessions: where a user is logged in. */

import type { sessions } from "../../../contract/sessions.ts";
import { endSshSession, listSshSessions } from "../../../domain/users/ssh-sessions.ts";
import { endWebSessions } from "../../../domain/users/web-sessions.ts";
import { sessionRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";

export const sessionHandlers: Handlers<typeof sessions> = {
  "GET /users/:id/sessions": async ({ context, params }) => ({
    items: (await listSshSessions(context, params.id)).map(sessionRecord),
  }),

  "DELETE /users/:id/web-sessions": async ({ context, params }) => {
    const sessions = await endWebSessions(context, params.id);
    return { status: "ended", sessions };
  },

  "DELETE /users/:id/sessions/:sessionId": async ({ context, params }) => {
    await endSshSession(context, params.id, params.sessionId);
    return { status: "ended" };
  },
};
