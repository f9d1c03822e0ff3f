/** Every route of the API, with everything about it. */

import type * as v from "valibot";
import { accessOnRequest } from "./access/on-request.ts";
import { administrators } from "./admins.ts";
import { agent } from "./agent.ts";
import { approvals } from "./approvals.ts";
import { audit } from "./audit.ts";
import { auth } from "./auth.ts";
import { companies } from "./companies/companies.ts";
import { ownCompany } from "./companies/own-company.ts";
import { dashboard } from "./dashboard.ts";
import { hostGroups } from "./host-groups.ts";
import { hosts } from "./hosts.ts";
import { keys } from "./keys.ts";
import { me } from "./me.ts";
import { passkeys } from "./passkeys.ts";
import { profiles } from "./profiles/profiles.ts";
import { reviews } from "./reviews/reviews.ts";
import type { Routes } from "./route.ts";
import { service } from "./service.ts";
import { sessions } from "./sessions.ts";
import { settings } from "./settings.ts";
import { sponsors } from "./sponsors/sponsors.ts";
import { sso } from "./sso.ts";
import { tokens } from "./tokens.ts";
import { totp } from "./totp.ts";
import { imports } from "./users/import.ts";
import { users } from "./users.ts";
import { webhooks } from "./webhooks.ts";

/** `query` and `body` are as requests have them, `answer` is the content of `data`. */
export const CONTRACT = {
  ...settings,
  ...users,
  ...imports,
  ...companies,
  ...ownCompany,
  ...reviews,
  ...profiles,
  ...sponsors,
  ...keys,
  ...sessions,
  ...me,
  ...accessOnRequest,
  ...approvals,
  ...audit,
  ...dashboard,
  ...tokens,
  ...webhooks,
  ...hosts,
  ...hostGroups,
  ...agent,
  ...auth,
  ...sso,
  ...passkeys,
  ...totp,
  ...administrators,
  ...service,
} as const satisfies Routes;

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

/** The content of `data` in a route's answer. */
export type AnswerOf<R extends RouteKey> = Contract[R] extends { readonly answer: infer S extends v.GenericSchema }
  ? v.InferOutput<S>
  : undefined;
