/** /approvals: anyone applies for access, administrators decide. /me/extension: users ask for more time, and withdraw it. */

import * as v from "valibot";
import { APPLICATION_SORTS } from "../shared/product/application-sorts.ts";
import { MAX_REQUESTED_DAYS } from "../shared/product/limits.ts";
import { APPROVAL_KINDS, APPROVAL_STATUSES, SPONSOR_ANSWERS } from "../shared/product/statuses.ts";
import { MAX_HOURS_WISH, MAX_PURPOSE } from "../shared/text/person.ts";
import { MAX_DAYS } from "../shared/time/duration.ts";
import { NO_ACCESS_NOW } from "./access/on-request.ts";
import {
  described,
  givenProfile,
  givenSponsor,
  IdParams,
  id,
  idNumber,
  newPerson,
  pageFields,
  pageIn,
  pageOf,
  person,
  sponsor,
  text,
  timestamp,
  wholeNumber,
} from "./fields.ts";
import {
  anyoneWithin,
  EXTENDED,
  externalUsers,
  NEW_ACCOUNT,
  PROFILE,
  type Routes,
  reviewers,
  SPONSOR,
} from "./route.ts";
import { givenHours, givenMoment } from "./users/hours.ts";

export const ApprovalQuery = v.pipe(
  v.object({
    ...pageFields,
    status: v.optional(v.picklist(APPROVAL_STATUSES)),
    kind: v.optional(v.picklist(APPROVAL_KINDS)),
    user_id: v.optional(idNumber("Only this user's requests")),
    sort: v.optional(
      v.pipe(v.picklist(APPLICATION_SORTS), v.description("`created_at`: the oldest first; by default, the newest")),
    ),
  }),
  v.transform(pageIn),
);

const HOURS_WISH = "The hours of the week that the applicant wishes for, in their words: whoever decides sets them";

export const givenHoursWish = v.optional(
  text("Tuesdays, 8 to 18, Berlin time", HOURS_WISH, { maxLength: MAX_HOURS_WISH }),
);

export const NewApplication = v.pipe(
  v.object({
    ...newPerson,
    sponsor_email: givenSponsor,
    hours_wish: givenHoursWish,
  }),
  v.title("NewApplication"),
);

export const ExtensionRequest = v.pipe(
  v.object({
    days: wholeNumber(1, MAX_REQUESTED_DAYS, "How many days more"),
    reason: text("The tests take longer than planned", "The purpose, for the reviewer", {
      minLength: 1,
      maxLength: MAX_PURPOSE,
    }),
  }),
  v.title("ExtensionRequest"),
);

export const ApplicationReview = v.pipe(
  v.object({
    approve: v.pipe(v.boolean(), v.examples([true])),
    reason: v.optional(text("Welcome", "At most 1000 characters after trimming; a rejection needs one")),
    create_user: v.optional(
      v.pipe(v.boolean(), v.description("false approves without creating the user; not for a user's request")),
    ),
    profile: givenProfile,
    ttl_days: v.optional(
      wholeNumber(
        0,
        MAX_DAYS,
        "Days until expiry, or by which the account is extended; 0, or none, means the default, or the days asked for",
      ),
    ),
    company_id: v.optional(
      v.nullable(v.pipe(id, v.description("The company that the new user comes from, within whose limits they lie"))),
    ),
    sponsor_email: v.optional(
      text("bo@example.org", "Who answers for the new user, if not whom they named; empty for their company's", {
        maxLength: 254,
      }),
    ),
    starts_at: v.optional(
      givenMoment(
        "2026-12-01T08:00:00Z",
        "When the new user's access begins; `ttl_days` counts from then. By default, now",
      ),
    ),
    hours: givenHours,
  }),
  v.title("ApplicationReview"),
);

export const ApplicationRecord = v.pipe(
  v.object({
    id,
    kind: v.pipe(
      v.picklist(APPROVAL_KINDS),
      v.description("`extension`: a user asks for more time; `access_request`: for access on request"),
    ),
    user_id: v.nullable(v.pipe(v.number(), v.integer(), v.description("The user who asks; null for applications"))),
    days: v.nullable(v.pipe(v.number(), v.integer(), v.description("How many days more they ask for; else null"))),
    hours: v.pipe(
      v.nullable(v.pipe(v.number(), v.integer(), v.examples([2]))),
      v.description("For how many hours they ask for access, from the moment at which it is allowed; else null"),
    ),
    hosts: v.pipe(
      v.nullable(v.array(described("web1"))),
      v.description("The hosts to which they ask for access; null for all of theirs, and for the other kinds"),
    ),
    end_when_asked: v.pipe(
      v.nullable(timestamp),
      v.description(
        "When their access ended as they asked for more time; else null. If it has moved since, approving the request gives at most `days` more than this",
      ),
    ),
    ...person,
    company_id: v.pipe(
      v.nullable(id),
      v.description("The company whose manager applies, and that the user is to come from; else null"),
    ),
    requested_by: described("", "The manager who applies for somebody else; empty where they apply themselves"),
    purpose: described("Maintenance of the build servers", "The purpose; for a user's request, the reason"),
    hours_wish: described("", HOURS_WISH),
    sponsor_email: sponsor,
    sponsor_answer: v.pipe(
      v.picklist(SPONSOR_ANSWERS),
      v.description("What the sponsor said: not asked yet, asked, that they answer for the applicant, or do not"),
    ),
    sponsor_reason: described("", "The sponsor's"),
    status: v.picklist(APPROVAL_STATUSES),
    reason: described("", "Given at the review"),
    reviewed_by: described("", "The administrator; empty while it is pending"),
    reviewed_at: v.nullable(timestamp),
    created_at: timestamp,
  }),
  v.title("Application"),
);

export const approvals = {
  "POST /approvals": {
    operationId: "submitApplication",
    summary: "Apply for access",
    description:
      "The applicant gets a receipt by e-mail, and the administrators are told. At most 200 applications are pending at once. One mailbox gets at most 3 mails a day about applications, and of many with one address only some are kept; the answer is the same.",
    who: anyoneWithin("application"),
    body: NewApplication,
    status: 201,
    answer: ApplicationRecord,
    reasons: ["application.limit", "sponsor.invalid"],
  },
  "GET /approvals": {
    operationId: "listApplications",
    summary: "List applications and users' requests",
    description: "Newest first, unless `sort` says otherwise.",
    who: reviewers,
    query: ApprovalQuery,
    answer: pageOf(ApplicationRecord),
  },
  "POST /approvals/:id/review": {
    operationId: "reviewApplication",
    summary: "Approve or reject an application",
    description:
      "Approving creates the user, with the company, sponsor and hours that are given, extends the user who asks for more time, or opens the access of the user who asks for it; if that fails the application stays pending. The applicant gets the outcome by e-mail.",
    who: reviewers,
    records: "approval.review",
    params: IdParams,
    body: ApplicationReview,
    answer: ApplicationRecord,
    refusals: { 404: true, 409: true },
    reasons: [
      ...NEW_ACCOUNT,
      ...EXTENDED,
      "company.missing",
      "company.full",
      "application.missing",
      "application.reviewed",
      "state.conflict",
      "user.taken",
      "sponsor.pending",
      ...SPONSOR,
      ...PROFILE,
      ...NO_ACCESS_NOW,
    ],
  },
  "POST /me/extension": {
    operationId: "requestExtension",
    summary: "Ask for more time",
    description:
      "Administrators review it as they do applications; the outcome comes by e-mail. Accounts that are active may ask, and expired ones until they are deleted. The reason is kept as `purpose`; `reason` is the reviewer's.",
    who: externalUsers,
    records: "extension.request",
    body: ExtensionRequest,
    status: 201,
    answer: ApplicationRecord,
    refusals: {
      404: true,
      409: "A request of yours is pending; or, which is final, the account is disabled or being deleted, or its recycle period is over",
    },
    reasons: ["user.missing", "user.not_active", "user.deleting", "user.recycled", "extension.pending"],
  },
  "DELETE /me/extension": {
    operationId: "withdrawExtension",
    summary: "Withdraw the request for more time",
    description:
      "While it is pending, whoever asked. Nobody can approve it any more: it is `rejected`, with the reason `Withdrawn`. You can ask again.",
    who: externalUsers,
    answer: ApplicationRecord,
    refusals: { 404: "No request of yours is pending" },
    reasons: ["user.missing", "application.missing"],
  },
} as const satisfies Routes;
