/** /auth/passkeys: one's own passkeys. /auth/passkey: logging in with one. */

import { Elysia } from "elysia";
import * as v from "valibot";
import { PrincipalRecord } from "../../contract/auth.ts";
import { Confirmation, PasskeyRequest } from "../../contract/confirmation.ts";
import {
  NewPasskey,
  PasskeyChanges,
  PasskeyCreation,
  PasskeyLogin,
  PasskeyRecord,
  WaysToConfirm,
} from "../../contract/passkeys.ts";
import { loginWithPasskey } from "../../domain/auth/admin-login.ts";
import { askForAnyPasskey } from "../../domain/auth/passkey-use.ts";
import { addPasskey, beginPasskey, listPasskeys, removePasskey, renamePasskey } from "../../domain/auth/passkeys.ts";
import { askForConfirmation } from "../../domain/auth/step-up.ts";
import { passkeyRecord, principalRecord } from "../records.ts";
import { CONFIRMED, confirming } from "./confirming.ts";
import { anonymous, anonymousBody, cookieSet, jsonBody, requireLogin, setSessionCookie } from "./elysia.ts";
import { tokenOf } from "./request.ts";
import { created, data, IdParams, responses, statusOf } from "./schemas.ts";
import type { Web } from "./web.ts";

/** For the document: why there can be no passkeys at all. */
const UNAVAILABLE = "`UAM_BASE_URL` is an address at which browsers use no passkeys";

export function passkeyRoutes(web: Web) {
  return new Elysia({ prefix: "/auth" }).use(challengeRoutes(web)).use(loginRoutes(web)).use(ownRoutes(web));
}

function challengeRoutes(web: Web) {
  return new Elysia()
    .use(anonymous(web, "passkey"))
    .get("/passkey/challenge", async ({ context }) => ({ data: await askForAnyPasskey(context) }), {
      response: responses(data(PasskeyRequest), 409, 429),
      detail: {
        operationId: "getPasskeyChallenge",
        summary: "Get what a browser is asked for a login with a passkey",
        description:
          "For any passkey of this host that the browser has; the answer says nothing about who has one. Nothing is stored.",
        responses: { 409: { description: `${UNAVAILABLE}. Final until that changes` } },
      },
    });
}

function loginRoutes(web: Web) {
  return new Elysia().use(anonymous(web, "login")).post(
    "/passkey/login",
    async ({ context, body, request, cookie }) => {
      const session = await loginWithPasskey(context, body.passkey, tokenOf(request));
      setSessionCookie(web, cookie, session);
      return { data: principalRecord(session.principal) };
    },
    {
      parse: anonymousBody(web, "login"),
      body: PasskeyLogin,
      response: responses(data(PrincipalRecord), 400, 401, 409, 429),
      detail: {
        operationId: "loginWithPasskey",
        summary: "Log in as an administrator with a passkey alone",
        description:
          "The answer to `GET /auth/passkey/challenge`, by an authenticator that verified its user. Whatever is wrong, the refusal is the same. Replaces the session of the request, if any.",
        responses: { ...cookieSet, 409: { description: `${UNAVAILABLE}. Final until that changes` } },
      },
    },
  );
}

function ownRoutes(web: Web) {
  const parse = jsonBody(web, "admin");
  return new Elysia()
    .use(requireLogin(web, "admin", "sets-up"))
    .get(
      "/passkeys",
      async ({ context, session }) => {
        const items = (await listPasskeys(context, session)).map(passkeyRecord);
        return { data: { items } };
      },
      {
        response: responses(data(v.object({ items: v.array(PasskeyRecord) })), 401, 403),
        detail: { operationId: "listPasskeys", summary: "List one's own passkeys", description: "Oldest first." },
      },
    )
    .get(
      "/passkeys/challenge",
      async ({ context, session }) => ({ data: await askForConfirmation(context, session) }),
      {
        response: responses(data(WaysToConfirm), 401, 403, 409),
        detail: {
          operationId: "getConfirmationChallenge",
          summary: "Get what one who is logged in may confirm with, and what a browser is asked for a passkey",
          description: "For what asks for a confirmation; the challenge is valid in this session only.",
          responses: { 409: { description: `${UNAVAILABLE}. Final until that changes` } },
        },
      },
    )
    .post(
      "/passkeys/begin",
      async ({ context, session, body }) => ({ data: await beginPasskey(context, session, body) }),
      {
        parse,
        body: Confirmation,
        response: responses(data(PasskeyCreation), 400, 401, 403, 409, 429),
        detail: {
          operationId: "beginPasskey",
          summary: "Get what a browser is asked to make a passkey",
          description: `${CONFIRMED} Nothing is stored until the passkey is sent.`,
          responses: {
            ...confirming,
            409: { description: `As many passkeys as an administrator may have, or ${UNAVAILABLE}` },
          },
        },
      },
    )
    .post(
      "/passkeys",
      async ({ context, session, body, status }) => {
        const made = await addPasskey(context, session, { name: body.name, answer: body.passkey });
        return status(201, { data: passkeyRecord(made) });
      },
      {
        parse,
        body: NewPasskey,
        response: created(data(PasskeyRecord), 400, 401, 403, 409),
        detail: {
          operationId: "addPasskey",
          summary: "Add a passkey",
          description:
            "The browser's answer to `POST /auth/passkeys/begin`, in the same session. Its owner is mailed. From then on a password alone does not log in any more.",
          responses: {
            409: { description: `Added already, or as many as an administrator may have, or ${UNAVAILABLE}` },
          },
        },
      },
    )
    .patch(
      "/passkeys/:id",
      async ({ context, session, params, body }) => ({
        data: passkeyRecord(await renamePasskey(context, session, params.id, body.name)),
      }),
      {
        parse,
        params: IdParams,
        body: PasskeyChanges,
        response: responses(data(PasskeyRecord), 400, 401, 403, 404),
        detail: { operationId: "renamePasskey", summary: "Rename one of one's own passkeys" },
      },
    )
    .delete(
      "/passkeys/:id",
      async ({ context, session, params, body }) => {
        await removePasskey(context, session, params.id, body);
        return { data: { status: "removed" as const } };
      },
      {
        parse: jsonBody(web, "admin", { optional: true }),
        params: IdParams,
        body: Confirmation,
        response: responses(statusOf("removed"), 400, 401, 403, 404, 409, 429),
        detail: {
          operationId: "removePasskey",
          summary: "Remove one of one's own passkeys",
          description: `It logs in no more; sessions stay open. Its owner is mailed. ${CONFIRMED}`,
          responses: { ...confirming, 409: { description: "The last one, where `UAM_ADMIN_LOGIN` asks for one" } },
        },
      },
    );
}
