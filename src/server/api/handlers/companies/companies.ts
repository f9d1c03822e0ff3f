/** /companies: where external users come from. */

import type { companies } from "../../../../contract/companies/companies.ts";
import type { BodyOf } from "../../../../contract/contract.ts";
import { createCompany, deleteCompany, getCompany, listCompanies } from "../../../../domain/companies/companies.ts";
import { endCompany, readEnding, resumeCompany } from "../../../../domain/companies/ending.ts";
import { previewEnd } from "../../../../domain/companies/preview.ts";
import { previewUpdate, updateCompany } from "../../../../domain/companies/update.ts";
import { clampTimestamp, parseTimestamp } from "../../../../shared/time/timestamp.ts";
import { companyPreviewRecord, companyRecord, endingRecord } from "../../../company-records.ts";
import type { Handlers } from "../../http/call.ts";
import { isPreview } from "../../http/request.ts";

export const companyHandlers: Handlers<typeof companies> = {
  "GET /companies": async ({ context, query }) => {
    const { total, items } = await listCompanies(context, query.page, query.q);
    return { total, items: items.map(companyRecord) };
  },

  "POST /companies": async ({ context, body }) =>
    companyRecord(await createCompany(context, { ...given(body), name: body.name })),

  "GET /companies/:id": async ({ context, params }) => companyRecord(await getCompany(context, params.id)),

  "PATCH /companies/:id": async ({ context, params, query, body }) => {
    if (isPreview(query)) return companyPreviewRecord(await previewUpdate(context, params.id, given(body)));
    return companyRecord(await updateCompany(context, params.id, given(body), context.policy.fleetWait));
  },

  "POST /companies/:id/end": async ({ context, params, query }) => {
    if (isPreview(query)) return companyPreviewRecord(await previewEnd(context, params.id));
    return endingRecord(await endCompany(context, params.id, context.policy.fleetWait));
  },

  "GET /companies/:id/end": async ({ context, params }) => endingRecord(await readEnding(context, params.id)),

  "POST /companies/:id/resume": async ({ context, params }) => companyRecord(await resumeCompany(context, params.id)),

  "DELETE /companies/:id": async ({ context, params }) => {
    await deleteCompany(context, params.id);
    return { status: "deleted" };
  },
};

function given(body: BodyOf<"PATCH /companies/:id">) {
  const { contract_end: end } = body;
  return {
    name: body.name,
    contractEnd: end == null ? end : clampTimestamp(parseTimestamp(end, "contract_end")),
    maxUsers: body.max_users,
    maxTtlDays: body.max_ttl_days,
    sourceNetworks: body.source_networks,
    hostGroups: body.host_groups,
    hours: body.hours,
    sponsorEmail: body.sponsor_email,
  };
}
