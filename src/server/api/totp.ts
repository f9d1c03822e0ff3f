/** /auth/totp: one's own authenticator app. */

import { Elysia } from "elysia";
import { Confirmation } from "../../contract/confirmation.ts";
import { AppRecord, NewApp, NewAppSecret } from "../../contract/totp.ts";
import { addApp, beginApp, findApp, removeApp } from "../../domain/auth/totp.ts";
import { appRecord } from "../records.ts";
import { CONFIRMED, confirming } from "./confirming.ts";
import { jsonBody, requireLogin } from "./elysia.ts";
import { created, data, responses, statusOf } from "./schemas.ts";
import type { Web } from "./web.ts";

export function totpRoutes(web: Web) {
  const parse = jsonBody(web, "admin");
  return new Elysia({ prefix: "/auth" })
    .use(requireLogin(web, "admin", "sets-up"))
    .get("/totp", async ({ context, session }) => ({ data: appRecord(await findApp(context, session)) }), {
      response: responses(data(AppRecord), 401, 403),
      detail: { operationId: "getAuthenticatorApp", summary: "Whether an authenticator app is set up" },
    })
    .post("/totp/begin", async ({ context, session, body }) => ({ data: await beginApp(context, session, body) }), {
      parse,
      body: Confirmation,
      response: responses(data(NewAppSecret), 400, 401, 403, 409, 429),
      detail: {
        operationId: "beginAuthenticatorApp",
        summary: "Get a secret for an authenticator app",
        description: `${CONFIRMED} Nothing is stored until a code confirms it.`,
        responses: {
          ...confirming,
          409: { description: "An authenticator app is set up already" },
        },
      },
    })
    .post(
      "/totp",
      async ({ context, session, body, status }) =>
        status(201, { data: appRecord(await addApp(context, session, body)) }),
      {
        parse,
        body: NewApp,
        response: created(data(AppRecord), 400, 401, 403, 409),
        detail: {
          operationId: "addAuthenticatorApp",
          summary: "Set up an authenticator app",
          description:
            "The first code that it shows confirms the secret. Its owner is mailed. From then on a password alone does not log in any more.",
          responses: { 409: { description: "An authenticator app is set up already" } },
        },
      },
    )
    .delete(
      "/totp",
      async ({ context, session, body }) => {
        await removeApp(context, session, body);
        return { data: { status: "removed" as const } };
      },
      {
        parse: jsonBody(web, "admin", { optional: true }),
        body: Confirmation,
        response: responses(statusOf("removed"), 400, 401, 403, 404, 409, 429),
        detail: {
          operationId: "removeAuthenticatorApp",
          summary: "Remove one's own authenticator app",
          description: `Its codes log in no more; sessions stay open. Its owner is mailed. ${CONFIRMED}`,
          responses: {
            ...confirming,
            409: { description: "The last second factor, where `UAM_ADMIN_LOGIN` asks for one" },
          },
        },
      },
    );
}
