/** /auth/totp: one's own authenticator app. */

import type { totp } from "../../../contract/totp.ts";
import { addApp, beginApp, findApp, removeApp } from "../../../domain/auth/factors/totp.ts";
import { appRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";

export const totpHandlers: Handlers<typeof totp> = {
  "GET /auth/totp": async ({ context, session }) => appRecord(await findApp(context, session)),

  "POST /auth/totp/begin": async ({ context, session, body }) => await beginApp(context, session, body),

  "POST /auth/totp": async ({ context, session, body }) => appRecord(await addApp(context, session, body)),

  "DELETE /auth/totp": async ({ context, session, body }) => {
    await removeApp(context, session, body);
    return { status: "removed" };
  },
};
