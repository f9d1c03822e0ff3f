/** Access on request: users ask for it, and end it before its time, as administrators can. */

import * as v from "valibot";
import { MAX_REQUEST_HOURS } from "../../shared/hours/on-request.ts";
import type { Reason } from "../../shared/product/reasons.ts";
import { APPROVAL_STATUSES } from "../../shared/product/statuses.ts";
import { MAX_PURPOSE } from "../../shared/text/person.ts";
import { described, expiry, givenReason, IdParams, id, listOf, text, timestamp, wholeNumber } from "../fields.ts";
import { hosts } from "../hosts-confirmation.ts";
import { ACCOUNT, externalUsers, operators, type Routes } from "../route.ts";
import { shownOnRequest } from "../users/hours.ts";

/** Why nobody is let in now who has to ask. */
export const NO_ACCESS_NOW: readonly Reason[] = [
  ...(["access.not_on_request", "access.outside_hours", "access.hosts", "user.not_active"] as const),
];

const OwnAccessRequest = v.pipe(
  v.object({
    id,
    status: v.picklist(APPROVAL_STATUSES),
    hours: v.pipe(v.number(), v.integer(), v.examples([2])),
    hosts: v.pipe(v.nullable(v.array(described("web1"))), v.description("The hosts that it is for; null for all")),
    created_at: timestamp,
    reviewed_at: v.nullable(timestamp),
    reason: described("", "Given by whoever decided; empty while it is pending"),
  }),
  v.title("OwnAccessRequest"),
);

/** In a user's own account. */
export const OwnOnRequest = v.pipe(
  v.nullable(
    v.object({
      ...shownOnRequest.entries,
      request: v.pipe(
        v.nullable(OwnAccessRequest),
        v.description("The newest that needed a decision, if it is pending or was decided within 30 days"),
      ),
      hosts: v.pipe(
        v.array(
          v.object({
            name: described("web1", "`local` is the service's own host"),
            until: v.pipe(v.nullable(timestamp), v.description("Until when access is open there; null if it is not")),
          }),
        ),
        v.description("The hosts that they may ask for"),
      ),
    }),
  ),
  v.description("Whom they ask for access, each time, with `POST /me/access`; null: they need not ask"),
);

const MOST_HOSTS = 1000;

const AccessRequest = v.pipe(
  v.object({
    hours: wholeNumber(1, MAX_REQUEST_HOURS, "For how many hours, at most the `max_hours` of the user's rule"),
    hosts: v.optional(
      v.pipe(
        listOf(
          v.union([text("web1", "A name", { minLength: 1, maxLength: 63 }), wholeNumber(1, 2_147_483_647, "An id")]),
          MOST_HOSTS,
        ),
        v.minLength(1, "must name a host"),
        v.description("To which of the user's hosts, by name or id; by default, to all that they may ask for"),
      ),
    ),
    reason: text("The nightly build is broken", "What it is needed for", { minLength: 1, maxLength: MAX_PURPOSE }),
  }),
  v.title("AccessRequest"),
);

const Asked = v.union([
  v.pipe(
    v.object({ access: v.literal("open"), until: v.pipe(expiry, v.description("sshd refuses from then on")) }),
    v.title("AccessOpened"),
  ),
  v.pipe(v.object({ access: v.literal("on_request"), request: OwnAccessRequest }), v.title("AccessWaiting")),
]);

const Ended = v.pipe(
  v.object({ access: v.picklist(["on_request", "not_yet", "outside_hours", "closed"]), hosts }),
  v.title("AccessEnded"),
);

const ENDING = {
  404: true,
  409: "The user need not ask. Final until that changes",
  500: "The host could not do all of it. The message says what holds; the rest is retried until it is done",
} as const;

export const accessOnRequest = {
  "POST /me/access": {
    operationId: "requestAccess",
    summary: "Ask for access",
    description:
      "Only for users whose access is on request. By the rule `self` it is open when this answers, with its end; the session must have logged in within 15 minutes. Otherwise the sponsor or the administrators are asked, and the answer is 202 with the request: the time runs from the moment at which it is allowed, and the outcome comes by e-mail; a request that nobody has answered for 7 days is rejected by the service. Asking again before the end prolongs, at most to `max_hours` from now, and on the hosts that are named alone; `until` is the end on these. Access never reaches beyond the user's hours, and sessions end with it.",
    who: externalUsers,
    records: "access.request",
    body: AccessRequest,
    answer: Asked,
    mayWait: true,
    success: { description: "Access is open until `until`" },
    refusals: {
      404: true,
      409: "Outside the user's hours (the message says when they begin), the session is not fresh, more hours than allowed, a host that they may not ask for, or a request waits already; or, which is final, the user is not active, or need not ask",
    },
    reasons: [
      ...NO_ACCESS_NOW,
      ...ACCOUNT,
      ...([
        "access.fresh_login",
        "access.limit",
        "access.pending",
        "access.owed",
        "user.missing",
        "user.deleting",
        "company.ended",
      ] as const),
    ],
  },
  "DELETE /me/access": {
    operationId: "endOwnAccess",
    summary: "End your access on request before its time",
    description:
      "The account is shut, and its sessions end; a request that waits is withdrawn. Nothing to end is no failure.",
    who: externalUsers,
    onlyTakesAway: true,
    answer: Ended,
    refusals: ENDING,
    reasons: ["user.missing", "access.not_on_request", "access.owed"],
  },
  "DELETE /users/:id/access": {
    operationId: "endAccess",
    summary: "End a user's access on request before its time",
    description:
      "The account is shut, and its sessions end; a request that waits is withdrawn. The user stays active, and can ask again. Nothing to end is no failure.",
    who: operators,
    params: IdParams,
    query: v.object({ reason: givenReason }),
    answer: Ended,
    refusals: ENDING,
    reasons: ["user.missing", "access.not_on_request", "access.owed"],
  },
} as const satisfies Routes;
