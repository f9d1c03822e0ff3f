/** The bodies of requests that create and change users, and what creating answers. */

import * as v from "valibot";
import { USER_STATUSES } from "../../shared/product/statuses.ts";
import {
  expiry,
  givenNote,
  givenProfile,
  givenReason,
  givenSponsor,
  id,
  newNetworks,
  newPerson,
  person,
  ttlDays,
} from "../fields.ts";
import { PreviewQuery } from "../preview.ts";
import { givenHours, givenHoursEnd, givenMoment, givenOnRequest } from "./hours.ts";
import { MANAGER, USER_NETWORKS } from "./lists.ts";

export const CreatedUser = v.pipe(
  v.object({
    id,
    username: person.username,
    status: v.picklist(USER_STATUSES),
    expire_at: expiry,
  }),
  v.title("CreatedUser"),
);

/** Where they come from. */
const belonging = {
  company_id: v.optional(
    v.nullable(
      v.pipe(id, v.description("The company that they come from, within whose limits they lie; null for none")),
    ),
  ),
  manager: v.optional(v.pipe(v.boolean(), v.description(MANAGER), v.examples([false]))),
  sponsor_email: givenSponsor,
  profile: givenProfile,
};

export const NewUser = v.pipe(
  v.object({
    ...newPerson,
    note: givenNote,
    ttl_days: ttlDays,
    expire_at: v.optional(givenMoment("2027-02-18T08:00:00Z", "Instead of `ttl_days`: when access ends, RFC 3339")),
    starts_at: v.optional(
      givenMoment("2026-12-01T08:00:00Z", "When access begins, RFC 3339; `ttl_days` counts from then. By default, now"),
    ),
    hours: givenHours,
    hours_end: givenHoursEnd,
    on_request: givenOnRequest,
    source_networks: newNetworks(USER_NETWORKS),
    ...belonging,
  }),
  v.title("NewUser"),
);

export const UserChanges = v.pipe(
  v.object({
    email: v.optional(newPerson.email),
    full_name: newPerson.full_name,
    supervisor: newPerson.supervisor,
    purpose: newPerson.purpose,
    note: givenNote,
    starts_at: v.optional(
      v.nullable(givenMoment("2026-12-01T08:00:00Z", "When access begins, RFC 3339, until it has; null for at once")),
    ),
    hours: givenHours,
    hours_end: givenHoursEnd,
    on_request: givenOnRequest,
    source_networks: newNetworks(USER_NETWORKS),
    ...belonging,
  }),
  v.title("UserChanges"),
);

export const DeletionQuery = v.object({ ...PreviewQuery.entries, reason: givenReason });
