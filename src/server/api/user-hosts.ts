/** /users/:id/hosts and /me/hosts: where users have an account. */

import { Elysia } from "elysia";
import { FleetPreview, OwnHosts, UserHostChanges, UserHosts } from "../../contract/hosts.ts";
import { PreviewQuery } from "../../contract/preview.ts";
import { grantsOf, setUserHosts } from "../../domain/fleet/grants.ts";
import { listOwnHosts } from "../../domain/fleet/own-hosts.ts";
import { previewUserHosts } from "../../domain/fleet/previews.ts";
import { listUserHosts } from "../../domain/fleet/user-hosts.ts";
import { fleetPreviewRecord, ownHostRecord, userHostsRecord } from "../fleet-records.ts";
import { hostsRecord } from "../records.ts";
import { jsonBody, requireSession } from "./elysia.ts";
import { isPreview } from "./request.ts";
import { data, IdParams, previewed, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

/** What administrators see and change of it. */
export function userHostRoutes(web: Web) {
  return new Elysia({ prefix: "/users" })
    .use(requireSession(web, "admin", "operator"))
    .get(
      "/:id/hosts",
      async ({ context, params }) => {
        const places = await listUserHosts(context, params.id);
        return { data: userHostsRecord(await grantsOf(context.db, params.id), places) };
      },
      {
        params: IdParams,
        response: responses(data(UserHosts), 400, 401, 403, 404),
        detail: {
          operationId: "listUserHosts",
          summary: "Where a user has an account",
          description:
            "What the user was given, by name and by group, and each host with how far it is. Not paged. The last items are hosts that the user has no more and that have not yet removed the account.",
        },
      },
    )
    .put(
      "/:id/hosts",
      async ({ context, params, query, body }) => {
        if (isPreview(query)) return { data: fleetPreviewRecord(await previewUserHosts(context, params.id, body)) };
        const { given, places, taken } = await setUserHosts(context, params.id, body);
        const { hosts } = hostsRecord(taken);
        const record = userHostsRecord(given, places);
        return { data: hosts === undefined ? record : { ...record, taken: hosts } };
      },
      {
        parse: jsonBody(web, "admin"),
        params: IdParams,
        query: PreviewQuery,
        body: UserHostChanges,
        response: responses(previewed(FleetPreview, UserHosts), 400, 401, 403, 404, 409),
        detail: {
          operationId: "setUserHosts",
          summary: "Give a user these hosts and groups, and no others",
          description:
            "The user gets an account on each host that is new. Where one goes, the account there is removed with its home. The service waits a moment for that: `taken` says how many hosts have done so, and from when on it is certainly true on all.",
          responses: {
            409: {
              description:
                "None is given, a host is being retired, the user is being deleted, or the service's own host has something else of the account's name",
            },
            500: {
              description:
                "The account on the service's own host could not be made, and nothing was changed; or it could not be removed completely: then the rest is stored, and the service keeps trying. The message says which",
            },
          },
        },
      },
    );
}

/** What users see of their own. */
export function ownHostRoutes(web: Web) {
  return new Elysia({ prefix: "/me" }).use(requireSession(web, "user")).get(
    "/hosts",
    async ({ context, session }) => ({
      data: { items: (await listOwnHosts(context, session.principal.id)).map(ownHostRecord) },
    }),
    {
      response: responses(data(OwnHosts), 401, 403),
      detail: {
        operationId: "listOwnHosts",
        summary: "Where you have an account, and how to connect",
        description:
          "`ssh` is null where the host has not said yet where it can be reached. Until `state` is `applied`, what was changed last does not hold there yet.",
      },
    },
  );
}
