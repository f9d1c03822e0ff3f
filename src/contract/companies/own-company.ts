/** /me/company: what managers of a company see of it, end, and apply for. */

import * as v from "valibot";
import { MAX_REQUESTED_DAYS } from "../../shared/product/limits.ts";
import { COMPANY_STATUSES, USER_STATUSES } from "../../shared/product/statuses.ts";
import { USERNAME } from "../../shared/text/account-name.ts";
import { MAX_FULL_NAME, MAX_PURPOSE } from "../../shared/text/person.ts";
import { ApplicationRecord, givenHoursWish } from "../approvals.ts";
import {
  count,
  described,
  expiry,
  IdParams,
  id,
  PageQuery,
  pageOf,
  person,
  text,
  timestamp,
  wholeNumber,
} from "../fields.ts";
import { hosts } from "../hosts-confirmation.ts";
import { externalUsers, type Routes } from "../route.ts";

const OwnCompany = v.pipe(
  v.object({
    id,
    name: described("Lindqvist AB"),
    status: v.picklist(COMPANY_STATUSES),
    contract_end: v.pipe(v.nullable(timestamp), v.description("No user's end lies after it; null: none")),
    max_users: v.pipe(v.nullable(count(20)), v.description("How many users it may have; null: any number")),
    users: v.pipe(count(12), v.description("How many users it has, whatever their status")),
  }),
  v.title("OwnCompany"),
);

const Colleague = v.pipe(
  v.object({
    id,
    username: person.username,
    full_name: person.full_name,
    manager: v.pipe(v.boolean(), v.examples([false])),
    status: v.picklist(USER_STATUSES),
    expire_at: expiry,
    last_login_at: v.pipe(v.nullable(timestamp), v.description("To this service; null before the first")),
    last_key_use_at: v.pipe(
      v.nullable(timestamp),
      v.description("The last SSH login, by sshd's log on the service's own host; null where none is known"),
    ),
  }),
  v.title("Colleague"),
);

const ColleagueApplication = v.pipe(
  v.object({
    username: v.optional(text("alice", "Without the prefix `ext_`", { pattern: USERNAME.source })),
    email: v.optional(text("alice@example.org", "One address", { format: "email", maxLength: 254 })),
    full_name: v.optional(text("Alice Andersson", "The person's name", { maxLength: MAX_FULL_NAME })),
    purpose: v.optional(text("Maintenance of the build servers", undefined, { maxLength: MAX_PURPOSE })),
    hours_wish: givenHoursWish,
    user_id: v.optional(v.pipe(id, v.maxValue(Number.MAX_SAFE_INTEGER), v.description("For more time: whose"))),
    days: v.optional(wholeNumber(1, MAX_REQUESTED_DAYS, "For more time: how many days more")),
    reason: v.optional(
      text("The tests take longer than planned", "For more time: the purpose", { maxLength: MAX_PURPOSE }),
    ),
  }),
  v.description(
    "Either `username`, `email`, `purpose` and perhaps `full_name` and `hours_wish`, or `user_id`, `days` and `reason`",
  ),
  v.title("ColleagueApplication"),
);

const NOT_MANAGER = "No active manager of a company, or no longer";

export const ownCompany = {
  "GET /me/company": {
    operationId: "getOwnCompany",
    summary: "Read the company that you manage",
    who: externalUsers,
    answer: OwnCompany,
    refusals: { 403: NOT_MANAGER, 404: true },
    reasons: ["company.not_manager", "user.missing"],
  },
  "GET /me/company/users": {
    operationId: "listColleagues",
    summary: "List the people of the company that you manage",
    description: "By name.",
    who: externalUsers,
    query: PageQuery,
    answer: pageOf(Colleague),
    refusals: { 403: NOT_MANAGER, 404: true },
    reasons: ["company.not_manager", "user.missing"],
  },
  "POST /me/company/users/:id/end": {
    operationId: "endColleague",
    summary: "End the access of somebody of the company that you manage",
    description:
      "At once, as when an administrator disables them; only an administrator gives it back. Who has no access already stays as they are. Where they have an account on hosts with agents, the answer waits a few seconds for them.",
    who: externalUsers,
    onlyTakesAway: true,
    params: IdParams,
    answer: v.object({
      status: v.picklist(["disabled", "expired"]),
      effective_by: v.pipe(
        v.nullable(expiry),
        v.description("From then on it is true on every host; null where that is not known"),
      ),
      hosts,
    }),
    refusals: {
      403: NOT_MANAGER,
      404: "There is nobody of that id in the company",
      500: "The host could not do all of it. The message says what holds; the rest is retried until it is done",
    },
    reasons: ["company.not_manager", "user.missing", "access.owed"],
  },
  "POST /me/company/applications": {
    operationId: "applyForColleague",
    summary: "Apply for a colleague, or for more time for one",
    description:
      "For somebody new, or for somebody of the company that you manage. Administrators decide, within the limits of the company.",
    who: externalUsers,
    records: "approval.submit",
    body: ColleagueApplication,
    status: 201,
    answer: ApplicationRecord,
    refusals: {
      403: NOT_MANAGER,
      404: "There is nobody of that id in the company",
      409: "More time is asked for already, the account is disabled or being deleted, its recycle period is over, or the company has ended",
      429: "Too many applications of the company are pending",
    },
    reasons: [
      ...(["company.not_manager", "company.ended", "application.limit", "user.missing", "user.not_active"] as const),
      ...(["user.deleting", "user.recycled", "extension.pending"] as const),
    ],
  },
} as const satisfies Routes;
