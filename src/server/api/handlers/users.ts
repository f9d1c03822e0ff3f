/** /users: external users, managed by administrators. */

import type { UserFilters } from "../../../contract/users/lists.ts";
import type { users } from "../../../contract/users.ts";
import { exportUsers } from "../../../domain/exports/users.ts";
import { awaitHosts } from "../../../domain/hosts/confirmation.ts";
import type { Wanted } from "../../../domain/users/changeable.ts";
import { diagnoseUser } from "../../../domain/users/diagnosis.ts";
import { moveEnd } from "../../../domain/users/extend.ts";
import { listUsers } from "../../../domain/users/list.ts";
import { previewDelete, previewDisable, previewEnable, previewExtend } from "../../../domain/users/preview.ts";
import { listSupervisors } from "../../../domain/users/supervisors.ts";
import { updateUser } from "../../../domain/users/update.ts";
import { createUser, deleteUser, disableUser, enableUser, getUser } from "../../../domain/users/users.ts";
import { formatTimestamp, parseTimestamp } from "../../../shared/time/timestamp.ts";
import { diagnosisRecord } from "../../diagnosis-record.ts";
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
    const input = { ...body, fullName: body.full_name, ttlDays: body.ttl_days, sourceNetworks: body.source_networks };
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

  "GET /users/:id": async ({ context, params }) => userRecord(await getUser(context, params.id), context.clock.now()),

  "GET /users/:id/diagnosis": async ({ context, params }) => diagnosisRecord(await diagnoseUser(context, params.id)),

  "PATCH /users/:id": async ({ context, params, body }) => {
    const changes = { ...body, fullName: body.full_name, sourceNetworks: body.source_networks };
    const user = await updateUser(context, params.id, changes);
    return userRecord(user, context.clock.now());
  },

  "POST /users/:id/disable": async ({ context, params, query, body: { reason } }) => {
    if (isPreview(query)) return userPreviewRecord(await previewDisable(context, params.id, reason));
    await disableUser(context, params.id, { reason });
    return { status: "disabled", ...hostsRecord(await awaitHosts(context, params.id)) };
  },

  "POST /users/:id/enable": async ({ context, params, query, body: { reason } }) => {
    if (isPreview(query)) return userPreviewRecord(await previewEnable(context, params.id, reason));
    await enableUser(context, params.id, reason);
    return { status: "active" };
  },

  "POST /users/:id/extend": async ({ context, params, query, body: { days, until, reason } }) => {
    const wanted = wantedEnd(days, until);
    if (isPreview(query)) return userPreviewRecord(await previewExtend(context, params.id, wanted, reason));
    const { user, isShorter } = await moveEnd(context, params.id, wanted, { reason });
    const confirmed = isShorter ? hostsRecord(await awaitHosts(context, params.id)) : {};
    return { expire_at: formatTimestamp(user.expireAt), ...confirmed };
  },

  "DELETE /users/:id": async ({ context, params, query }) => {
    if (isPreview(query)) return userPreviewRecord(await previewDelete(context, params.id, query.reason));
    await deleteUser(context, params.id, { reason: query.reason });
    return { status: "deleted", ...hostsRecord(await awaitHosts(context, params.id)) };
  },
};

function filterOf({
  q: search,
  last_used: lastUsed,
  silent_for: silentFor,
  status,
  supervisor,
  welcome,
  sort,
}: UserFilters) {
  return { status, supervisor, welcome, search, lastUsed, silentFor, sort };
}

function wantedEnd(days: number | undefined, until: string | undefined): Wanted {
  return until === undefined ? { days: days ?? 0 } : { until: parseTimestamp(until, "until") };
}
