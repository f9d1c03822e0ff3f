/** /users: external users, managed by administrators. */

import type { UserFilters } from "../../../contract/users/lists.ts";
import type { users } from "../../../contract/users.ts";
import { openingsBetween } from "../../../domain/accounts/access-state.ts";
import { type AcceptedTerms, findAcceptedTerms } from "../../../domain/accounts/terms.ts";
import { exportUsers } from "../../../domain/exports/users.ts";
import { awaitHosts } from "../../../domain/hosts/confirmation.ts";
import { spansOnHost } from "../../../domain/hosts/group-hours.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { requireUnchanged, type Wanted } from "../../../domain/users/changeable.ts";
import { diagnoseUser } from "../../../domain/users/diagnosis.ts";
import { moveEnd } from "../../../domain/users/extend.ts";
import { listUsers } from "../../../domain/users/list.ts";
import { previewDelete, previewDisable, previewEnable, previewExtend } from "../../../domain/users/preview.ts";
import { previewUpdate } from "../../../domain/users/preview-update.ts";
import type { ChangeOptions } from "../../../domain/users/row-lock.ts";
import { listSupervisors } from "../../../domain/users/supervisors.ts";
import { changeUser } from "../../../domain/users/update.ts";
import { createUser, deleteUser, disableUser, enableUser, getUser } from "../../../domain/users/users.ts";
import type { HoursEnd, RequestRule } from "../../../shared/product/statuses.ts";
import { DAY, shift } from "../../../shared/time/clock.ts";
import { formatOptionalTimestamp, formatTimestamp, parseTimestamp } from "../../../shared/time/timestamp.ts";
import { diagnosisRecord } from "../../diagnosis-record.ts";
import { hoursRecord } from "../../hours-records.ts";
import { listedUserRecord, userFile } from "../../listed-user-record.ts";
import { hostsRecord, userPreviewRecord, userRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";
import { isPreview } from "../http/request.ts";
import { answerFile } from "./answer-file.ts";

export const userHandlers: Handlers<typeof users> = {
  "GET /users": async ({ context, query }) => {
    const { total, items } = await listUsers(context, filterOf(query), query.page);
    return { total, items: items.map((user) => listedUserRecord(user, context.clock.now())) };
  },

  "POST /users": async ({ context, body }) => {
    const input = {
      ...body,
      fullName: body.full_name,
      ttlDays: body.ttl_days,
      ...timesOf(body),
      onRequest: onRequestOf(body.on_request),
      sourceNetworks: body.source_networks,
      ...belongingOf(body),
    };
    const user = userRecord(await createUser(context, input), context.clock.now());
    return { id: user.id, username: user.username, status: user.status, expire_at: user.expire_at };
  },

  "GET /users/supervisors": async ({ context, query }) => ({ items: [...(await listSupervisors(context, query.q))] }),

  "GET /users/export": async (call) => {
    const { web, context, query } = call;
    return await answerFile(call, "users", (format) =>
      exportUsers(context, filterOf(query), userFile(format), web.exportPlaces),
    );
  },

  "GET /users/:id": async ({ context, params }) => {
    const user = userRecord(await getUser(context, params.id), context.clock.now());
    return { ...user, ...acceptedRecord(await findAcceptedTerms(context.autocommit, context.policy, params.id)) };
  },

  "GET /users/:id/diagnosis": async ({ context, params }) => diagnosisRecord(await diagnoseUser(context, params.id)),

  "PATCH /users/:id": async ({ context, params, query, body }) => {
    const changes = {
      ...body,
      ...timesOf(body),
      onRequest: onRequestOf(body.on_request),
      fullName: body.full_name,
      sourceNetworks: body.source_networks,
      ...belongingOf(body),
    };
    if (isPreview(query)) {
      const { user, effects, host } = await previewUpdate(context, params.id, changes);
      return { ...userRecord(user, context.clock.now()), preview: true, effects: [...effects], host: [...host] };
    }
    const { user, isNarrower } = await changeUser(context, params.id, changes);
    const known = isNarrower ? hostsRecord(await awaitHosts(context, params.id)) : {};
    return { ...userRecord(user, context.clock.now()), ...known };
  },

  "GET /users/:id/hours": async ({ context, params, query }) => {
    const user = await getUser(context, params.id);
    const from = query.from === undefined ? context.clock.now() : parseTimestamp(query.from, "from");
    const to = query.to === undefined ? shift(from, 7 * DAY) : parseTimestamp(query.to, "to");
    if (query.host === undefined) return hoursRecord(user, openingsBetween(user, from, to));
    return hoursRecord(user, await spansOnHost(context, query.host, { user, from, to }));
  },

  "POST /users/:id/disable": async ({ context, params, query, body }) => {
    const options = optionsOf(body);
    if (isPreview(query)) {
      await requireStill(context, params.id, options);
      return userPreviewRecord(await previewDisable(context, params.id, body.reason));
    }
    const { updatedAt } = await disableUser(context, params.id, options);
    const known = hostsRecord(await awaitHosts(context, params.id));
    return { status: "disabled", ...forUndoing(body, { updated_at: formatTimestamp(updatedAt) }), ...known };
  },

  "POST /users/:id/enable": async ({ context, params, query, body }) => {
    const options = optionsOf(body);
    if (isPreview(query)) {
      await requireStill(context, params.id, options);
      return userPreviewRecord(await previewEnable(context, params.id, body.reason));
    }
    const { updatedAt } = await enableUser(context, params.id, options);
    return { status: "active", ...forUndoing(body, { updated_at: formatTimestamp(updatedAt) }) };
  },

  "POST /users/:id/extend": async ({ context, params, query, body }) => {
    const [wanted, options] = [wantedEnd(body.days, body.until), optionsOf(body)];
    if (isPreview(query)) {
      await requireStill(context, params.id, options);
      return userPreviewRecord(await previewExtend(context, params.id, wanted, body.reason));
    }
    const { user, before, isShorter } = await moveEnd(context, params.id, wanted, options);
    const known = isShorter ? hostsRecord(await awaitHosts(context, params.id)) : {};
    const { expireAt, updatedAt } = user;
    const then = { old_expire_at: formatTimestamp(before), updated_at: formatTimestamp(updatedAt) };
    return { expire_at: formatTimestamp(expireAt), ...forUndoing(body, then), ...known };
  },

  "DELETE /users/:id": async ({ context, params, query }) => {
    if (isPreview(query)) return userPreviewRecord(await previewDelete(context, params.id, query.reason));
    await deleteUser(context, params.id, { reason: query.reason });
    return { status: "deleted", ...hostsRecord(await awaitHosts(context, params.id)) };
  },
};

function acceptedRecord(terms: AcceptedTerms | undefined) {
  if (terms === undefined) return {};
  const { version, accepted, acceptedAt } = terms;
  const answer = { accepted_version: accepted, accepted_at: formatOptionalTimestamp(acceptedAt) };
  return { terms: { version, pending: accepted !== version, ...answer } };
}

function filterOf({
  q: search,
  last_used: lastUsed,
  silent_for: silentFor,
  company: companyId,
  status,
  access,
  supervisor,
  sponsor,
  welcome,
  terms,
  sort,
}: UserFilters) {
  return { status, access, supervisor, sponsor, welcome, terms, search, lastUsed, silentFor, companyId, sort };
}

function belongingOf({
  company_id: companyId,
  manager,
  sponsor_email: sponsorEmail,
  profile,
}: {
  company_id?: number | null | undefined;
  manager?: boolean | undefined;
  sponsor_email?: string | undefined;
  profile?: string | null | undefined;
}) {
  return { companyId, manager, sponsorEmail, profile };
}

function timesOf<Start extends string | null | undefined>({
  starts_at: start,
  expire_at: end,
  hours_end: hoursEnd,
}: {
  starts_at?: Start;
  expire_at?: string | undefined;
  hours_end?: HoursEnd | undefined;
}) {
  const startsAt = (typeof start === "string" ? parseTimestamp(start, "starts_at") : start) as
    | Date
    | Exclude<Start, string>;
  return { startsAt, hoursEnd, expireAt: end === undefined ? undefined : parseTimestamp(end, "expire_at") };
}

function onRequestOf(
  given: { rule: RequestRule; max_hours: number; groups?: string[] | undefined } | null | undefined,
) {
  return given && { rule: given.rule, maxHours: given.max_hours, groups: given.groups };
}

function wantedEnd(days: number | undefined, until: string | undefined): Wanted {
  return until === undefined ? { days: days ?? 0 } : { until: parseTimestamp(until, "until") };
}

interface Change {
  readonly reason?: string | undefined;
  readonly unchanged_since?: string | undefined;
}

function optionsOf({ reason, unchanged_since: since }: Change): ChangeOptions {
  return { reason, ...(since === undefined ? {} : { unchangedSince: parseTimestamp(since, "unchanged_since") }) };
}

/** The fields that undo the change, only for clients that sent `unchanged_since`: others get the fields of before. */
function forUndoing<T extends object>({ unchanged_since }: Change, then: T): Partial<T> {
  return unchanged_since === undefined ? {} : then;
}

/** A preview is refused as the change itself would be. */
async function requireStill(context: Context, id: number, { unchangedSince }: ChangeOptions): Promise<void> {
  if (unchangedSince !== undefined) requireUnchanged(await getUser(context, id), unchangedSince);
}
