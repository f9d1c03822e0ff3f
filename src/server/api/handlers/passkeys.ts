/** /auth/passkeys: one's own passkeys. /auth/passkey: logging in with one. */

import type { passkeys } from "../../../contract/passkeys.ts";
import { loginWithPasskey } from "../../../domain/auth/administrators/admin-login.ts";
import { askForAnyPasskey } from "../../../domain/auth/factors/passkey-use.ts";
import {
  addPasskey,
  beginPasskey,
  listPasskeys,
  removePasskey,
  renamePasskey,
} from "../../../domain/auth/factors/passkeys.ts";
import { askForConfirmation } from "../../../domain/auth/factors/step-up.ts";
import { passkeyRecord, principalRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";
import { tokenOf } from "../http/session-cookie.ts";

export const passkeyHandlers: Handlers<typeof passkeys> = {
  "GET /auth/passkey/challenge": async ({ context }) => await askForAnyPasskey(context),

  "POST /auth/passkey/login": async ({ context, body, request, reply }) => {
    const session = await loginWithPasskey(context, body.passkey, tokenOf(request));
    reply.session(session);
    return principalRecord(session.principal);
  },

  "GET /auth/passkeys": async ({ context, session }) => ({
    items: (await listPasskeys(context, session)).map(passkeyRecord),
  }),

  "GET /auth/passkeys/challenge": async ({ context, session }) => await askForConfirmation(context, session),

  "POST /auth/passkeys/begin": async ({ context, session, body }) => await beginPasskey(context, session, body),

  "POST /auth/passkeys": async ({ context, session, body }) => {
    const made = await addPasskey(context, session, { name: body.name, answer: body.passkey });
    return passkeyRecord(made);
  },

  "PATCH /auth/passkeys/:id": async ({ context, session, params, body }) =>
    passkeyRecord(await renamePasskey(context, session, params.id, body.name)),

  "DELETE /auth/passkeys/:id": async ({ context, session, params, body }) => {
    await removePasskey(context, session, params.id, body);
    return { status: "removed" };
  },
};
