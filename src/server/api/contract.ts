/**
 * Every route with the schemas that its requests and answers are checked by, for typed clients such as the console. A test holds
 * this table against the routes that are registered.
 */

import * as v from "valibot";
import { AdminChanges, AdminRecord, NewAdmin, PasswordChange } from "../../contract/admins.ts";
import {
  AdminForgot,
  AdminLogin,
  AdminPassword,
  AdminReset,
  Captcha,
  OtpLogin,
  OtpSend,
  PrincipalRecord,
  SecondStep,
} from "../../contract/auth.ts";
import { Confirmation, PasskeyRequest } from "../../contract/confirmation.ts";
import { CONTRACT as MOVED } from "../../contract/contract.ts";
import {
  NewPasskey,
  PasskeyChanges,
  PasskeyCreation,
  PasskeyLogin,
  PasskeyRecord,
  WaysToConfirm,
} from "../../contract/passkeys.ts";
import { ConsoleConfig } from "../../contract/service.ts";
import { EndedSessions } from "../../contract/sessions.ts";
import { RemovedRecord, SsoBegin, SsoLogoutToken } from "../../contract/sso.ts";
import { AppRecord, NewApp, NewAppSecret } from "../../contract/totp.ts";
import { PageQuery } from "./schemas.ts";

/** `query` and `body` as requests have them, `answer` as it is below `data`. */
export const CONTRACT = {
  "GET /auth/captcha": { answer: Captcha },
  "POST /auth/otp/send": { body: OtpSend, answer: status("sent") },
  "POST /auth/otp/login": { body: OtpLogin, answer: PrincipalRecord },
  "POST /auth/admin/login": { body: AdminLogin, answer: PrincipalRecord },
  "POST /auth/admin/second": { body: AdminPassword, answer: SecondStep },
  "GET /auth/passkey/challenge": { answer: PasskeyRequest },
  "POST /auth/passkey/login": { body: PasskeyLogin, answer: PrincipalRecord },
  "GET /auth/passkeys": { answer: v.object({ items: v.array(PasskeyRecord) }) },
  "GET /auth/passkeys/challenge": { answer: WaysToConfirm },
  "POST /auth/passkeys/begin": { body: Confirmation, answer: PasskeyCreation },
  "POST /auth/passkeys": { body: NewPasskey, answer: PasskeyRecord },
  "PATCH /auth/passkeys/:id": { body: PasskeyChanges, answer: PasskeyRecord },
  "DELETE /auth/passkeys/:id": { body: Confirmation, answer: status("removed") },
  "GET /auth/totp": { answer: AppRecord },
  "POST /auth/totp/begin": { body: Confirmation, answer: NewAppSecret },
  "POST /auth/totp": { body: NewApp, answer: AppRecord },
  "DELETE /auth/totp": { body: Confirmation, answer: status("removed") },
  "POST /auth/admin/forgot": { body: AdminForgot, answer: status("sent") },
  "POST /auth/admin/reset": { body: AdminReset, answer: status("reset") },
  "POST /auth/admin/password": { body: PasswordChange, answer: status("changed") },
  "POST /auth/logout": { answer: status("logged_out") },
  "GET /auth/me": { answer: PrincipalRecord },
  "GET /auth/oidc/login": { query: SsoBegin },
  "GET /auth/oidc/callback": {},
  "POST /auth/oidc/backchannel-logout": { body: SsoLogoutToken, answer: status("logged_out") },
  "GET /admins": { query: PageQuery, answer: list(AdminRecord) },
  "POST /admins": { body: NewAdmin, answer: AdminRecord },
  "PATCH /admins/:id": { body: AdminChanges, answer: AdminRecord },
  "DELETE /admins/:id": { answer: status("deleted") },
  "GET /removed-admins": { query: PageQuery, answer: list(RemovedRecord) },
  "DELETE /removed-admins/:id": { body: Confirmation, answer: status("readmitted") },
  "DELETE /admins/:id/sessions": { answer: EndedSessions },
  ...MOVED,
  "GET /console/config": { answer: ConsoleConfig },
  "GET /healthz": {},
  "GET /readyz": {},
  "GET /openapi.json": {},
} as const;

function status<const T extends string>(value: T) {
  return v.object({ status: v.literal(value) });
}

function list<S extends v.GenericSchema>(item: S) {
  return v.object({ total: v.number(), items: v.array(item) });
}

export type Contract = typeof CONTRACT;
/** A route, such as "GET /users". */
export type RouteKey = keyof Contract;

/** A route's query as a client gives it. */
export type QueryOf<R extends RouteKey> = Contract[R] extends { readonly query: infer S extends v.GenericSchema }
  ? v.InferInput<S>
  : undefined;

/** A route's body as a client gives it. */
export type BodyOf<R extends RouteKey> = Contract[R] extends { readonly body: infer S extends v.GenericSchema }
  ? v.InferInput<S>
  : undefined;

/** What a route answers below `data`. */
export type AnswerOf<R extends RouteKey> = Contract[R] extends { readonly answer: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined;
