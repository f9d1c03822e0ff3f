/** /companies: where external users come from, and what each company allows its users. */

import * as v from "valibot";
import { MAX_COMPANY_NAME, MAX_SEARCH, MOST_COMPANY_USERS } from "../../shared/product/limits.ts";
import { COMPANY_STATUSES } from "../../shared/product/statuses.ts";
import { MAX_DAYS } from "../../shared/time/duration.ts";
import {
  count,
  described,
  IdParams,
  id,
  listOf,
  networks,
  newNetworks,
  pageFields,
  pageIn,
  pageOf,
  statusOf,
  text,
  timestamp,
  wholeNumber,
} from "../fields.ts";
import { hosts } from "../hosts-confirmation.ts";
import { PreviewQuery, previewed, told } from "../preview.ts";
import { operators, type Routes } from "../route.ts";
import { givenHours, shownHours } from "../users/hours.ts";

const NETWORKS = "Within which the networks of its users lie; empty: from anywhere";
const GROUPS = "The groups of hosts that its users may have; empty: any";
const MAX_USERS = "How many users it may have, whatever their status; null: any number";
const MAX_TTL = "How many days ahead a user's end may lie when it is set; null: any number";
const END = "No user's end lies after it; null: none";
const SPONSOR = "The address of the person who answers for its users; empty: none";

export const CompanyRecord = v.pipe(
  v.object({
    id,
    name: described("Lindqvist AB"),
    contract_end: v.pipe(v.nullable(timestamp), v.description(END)),
    max_users: v.pipe(v.nullable(count(20)), v.description(MAX_USERS)),
    max_ttl_days: v.pipe(v.nullable(count(90)), v.description(MAX_TTL)),
    source_networks: networks(NETWORKS),
    host_groups: v.pipe(v.array(described("web")), v.description(GROUPS)),
    hours: shownHours,
    sponsor_email: described("bo@example.org", SPONSOR),
    status: v.pipe(
      v.picklist(COMPANY_STATUSES),
      v.description("Whether its users may have access, are losing it, or have none any more"),
    ),
    users: v.pipe(count(12), v.description("How many users it has, whatever their status")),
    narrowing: v.pipe(
      v.boolean(),
      v.examples([false]),
      v.description("Whether what its users lose by a change of it is still being taken away"),
    ),
    created_at: timestamp,
    updated_at: timestamp,
  }),
  v.title("Company"),
);

const CompanyPreview = v.pipe(
  v.object({ ...told, users: v.pipe(count(12), v.description("How many users would lose access")) }),
  v.title("CompanyPreview"),
);

const CompanyEnding = v.pipe(
  v.object({
    status: v.picklist(COMPANY_STATUSES),
    users: v.object({
      total: count(12),
      closed: v.pipe(count(12), v.description("Who has no access any more, as it is stored")),
      owed: v.pipe(count(0), v.description("Whose access is not completely taken away")),
    }),
    effective_by: v.pipe(
      v.nullable(timestamp),
      v.description(
        "From then on it is true on every host; null where that is not known: not everybody is closed, or a host without a lease has not confirmed",
      ),
    ),
    hosts,
  }),
  v.title("CompanyEnding"),
);

const limits = {
  contract_end: v.optional(v.nullable(text("2027-06-30T22:00:00Z", `An RFC 3339 timestamp. ${END}`))),
  max_users: v.optional(v.nullable(wholeNumber(1, MOST_COMPANY_USERS, MAX_USERS))),
  max_ttl_days: v.optional(v.nullable(wholeNumber(1, MAX_DAYS, MAX_TTL))),
  source_networks: newNetworks(NETWORKS),
  host_groups: v.optional(listOf(text("web", undefined, { maxLength: 63 }), 1000, GROUPS)),
  hours: givenHours,
  sponsor_email: v.optional(text("bo@example.org", SPONSOR, { maxLength: 254 })),
};

const name = text("Lindqvist AB", undefined, { maxLength: MAX_COMPANY_NAME });

export const NewCompany = v.pipe(v.object({ name, ...limits }), v.title("NewCompany"));

export const CompanyChanges = v.pipe(v.object({ name: v.optional(name), ...limits }), v.title("CompanyChanges"));

const CompaniesQuery = v.pipe(
  v.object({
    ...pageFields,
    q: v.optional(text("lindqvist", "A part of the name, in any case", { maxLength: MAX_SEARCH })),
  }),
  v.transform(pageIn),
);

export const companies = {
  "GET /companies": {
    operationId: "listCompanies",
    summary: "List companies",
    description: "By name.",
    who: operators,
    query: CompaniesQuery,
    answer: pageOf(CompanyRecord),
  },
  "POST /companies": {
    operationId: "createCompany",
    summary: "Make a company",
    description: "Limits that are not given limit nothing. Users come from it by their `company_id`.",
    who: operators,
    records: "company.create",
    body: NewCompany,
    status: 201,
    answer: CompanyRecord,
    refusals: { 409: "The name is taken" },
    reasons: ["company.taken", "network.invalid", "host_group.missing", "sponsor.invalid"],
  },
  "GET /companies/:id": {
    operationId: "getCompany",
    summary: "Read a company",
    who: operators,
    params: IdParams,
    answer: CompanyRecord,
    refusals: { 404: true },
    reasons: ["company.missing"],
  },
  "PATCH /companies/:id": {
    operationId: "updateCompany",
    summary: "Change a company",
    description:
      "Only the fields that are sent change. Its users lie within it: what they have beyond a narrower limit is taken away. Their ends come earlier, their networks become fewer, and hosts are withdrawn; who is left no network or no host is disabled. Access is open in the company's hours and the user's own together; who is outside of new ones is shut at once. The answer waits a few seconds and the service goes on, also after a crash. Ask for a preview first.",
    who: operators,
    records: "company.update",
    params: IdParams,
    query: PreviewQuery,
    body: CompanyChanges,
    answer: previewed(CompanyPreview, CompanyRecord),
    refusals: {
      404: true,
      409: "The name is taken, or hours are given while one of its users has an account on a further host",
    },
    reasons: [
      "company.missing",
      "company.taken",
      "company.limit",
      "network.invalid",
      "host_group.missing",
      "sponsor.invalid",
    ],
  },
  "DELETE /companies/:id": {
    operationId: "deleteCompany",
    summary: "Delete a company",
    description: "Only one that no user comes from.",
    who: operators,
    params: IdParams,
    answer: statusOf("deleted"),
    refusals: { 404: true, 409: "Users come from it" },
    reasons: ["company.missing", "company.used"],
  },
  "GET /companies/:id/end": {
    operationId: "getCompanyEnding",
    summary: "Read how far the end of a company is",
    description: "Also of one that nobody ended. Changes nothing, and is not recorded.",
    who: operators,
    params: IdParams,
    answer: CompanyEnding,
    refusals: { 404: true },
    reasons: ["company.missing"],
  },
  "POST /companies/:id/end": {
    operationId: "endCompany",
    summary: "End the access of everybody of a company",
    description:
      "Disables each of its users, and refuses to give anybody of it access until the company is resumed. The answer waits a few seconds and says how far it is; the service goes on, also after a crash. Asking again goes on, and says how far it is. Ask for a preview first.",
    who: operators,
    params: IdParams,
    query: PreviewQuery,
    answer: previewed(CompanyPreview, CompanyEnding),
    refusals: { 404: true },
    reasons: ["company.missing"],
  },
  "POST /companies/:id/resume": {
    operationId: "resumeCompany",
    summary: "Let users of a company be given access again",
    description: "Nobody has access by that: enable its users one by one.",
    who: operators,
    params: IdParams,
    answer: CompanyRecord,
    refusals: { 404: true, 409: "A user of it is still to be disabled" },
    reasons: ["company.missing", "state.conflict"],
  },
} as const satisfies Routes;
