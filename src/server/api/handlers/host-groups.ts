/** /host-groups, /users/:id/hosts and /me/hosts: which users have an account on which hosts. */

import type { hostGroups } from "../../../contract/host-groups.ts";
import { grantsOf, setUserHosts } from "../../../domain/hosts/grants.ts";
import { changeGroup, createGroup, deleteGroup, getGroup, listGroups } from "../../../domain/hosts/groups.ts";
import { awaitNarrowing } from "../../../domain/hosts/own-host-hours.ts";
import { listOwnHosts } from "../../../domain/hosts/own-hosts.ts";
import { previewGroup, previewGroupDelete, previewUserHosts } from "../../../domain/hosts/previews.ts";
import { listUserHosts } from "../../../domain/hosts/user-hosts.ts";
import { fleetPreviewRecord, hostGroupRecord, ownHostRecord, userHostsRecord } from "../../fleet-records.ts";
import { hostsRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";
import { isPreview } from "../http/request.ts";

export const hostGroupHandlers: Handlers<typeof hostGroups> = {
  "GET /host-groups": async ({ context }) => ({ items: (await listGroups(context)).map(hostGroupRecord) }),

  "GET /host-groups/:id": async ({ context, params }) => hostGroupRecord(await getGroup(context, params.id)),

  "POST /host-groups": async ({ context, body }) => hostGroupRecord(await createGroup(context, body)),

  "PATCH /host-groups/:id": async ({ context, params, query, body: { for_new_users: isDefault, ...others } }) => {
    const changes = { ...others, isDefault };
    if (isPreview(query)) return fleetPreviewRecord(await previewGroup(context, params.id, changes));
    const { group, ...narrowing } = await changeGroup(context, params.id, changes);
    const { hosts: narrowed } = hostsRecord(await awaitNarrowing(context, narrowing));
    return { ...hostGroupRecord(group), ...(narrowed === undefined ? {} : { narrowed }) };
  },

  "DELETE /host-groups/:id": async ({ context, params, query }) => {
    if (isPreview(query)) return fleetPreviewRecord(await previewGroupDelete(context, params.id));
    await deleteGroup(context, params.id);
    return { status: "deleted" };
  },

  "GET /users/:id/hosts": async ({ context, params }) => {
    const places = await listUserHosts(context, params.id);
    return userHostsRecord(await grantsOf(context.db, params.id), places);
  },

  "PUT /users/:id/hosts": async ({ context, params, query, body }) => {
    if (isPreview(query)) return fleetPreviewRecord(await previewUserHosts(context, params.id, body));
    const { given, places, taken } = await setUserHosts(context, params.id, body);
    const { hosts } = hostsRecord(taken);
    const record = userHostsRecord(given, places);
    return hosts === undefined ? record : { ...record, taken: hosts };
  },

  "GET /me/hosts": async ({ context, session }) => ({
    items: (await listOwnHosts(context, session.principal.id)).map(ownHostRecord),
  }),
};
