/** /me: what external users see of their account and do with it and with their own keys, and their own audit trail. */

import { Elysia } from "elysia";
import { ApplicationRecord, ExtensionRequest } from "../../contract/approvals.ts";
import { AuditRecord } from "../../contract/audit.ts";
import { KeyChanges, KeyList, KeyRecord, NewKey, RevokedKey } from "../../contract/keys.ts";
import { Locked, OwnRecord } from "../../contract/me.ts";
import { requestExtension } from "../../domain/approvals/extensions.ts";
import { listOwnAudit } from "../../domain/audit/audit.ts";
import { awaitHosts } from "../../domain/fleet/confirmation.ts";
import { listKeys, revokeKey, uploadKey } from "../../domain/keys/keys.ts";
import { updateKey } from "../../domain/keys/update.ts";
import { statusAt } from "../../domain/users/find.ts";
import { getOwnAccount } from "../../domain/users/own-account.ts";
import { lockOwnAccount } from "../../domain/users/own-lock.ts";
import { UamError } from "../../shared/errors.ts";
import { applicationRecord, auditRecord, hostsRecord, keyRecord, ownRecord } from "../records.ts";
import { jsonBody, requireSession, setSessionCookie } from "./elysia.ts";
import { otherFailuresAs } from "./errors.ts";
import { created, data, IdParams, PageQuery, paged, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

/** For the document: the host's refusal. */
const HOST_FAILURE = {
  description:
    "The host refused; nothing was changed. Final if the host account is missing or is not one that uam made: an administrator of the host must sort it out. Otherwise trying again may help",
};

export function meRoutes(web: Web) {
  const parse = jsonBody(web, "user");
  return new Elysia({ prefix: "/me" })
    .use(requireSession(web, "user"))
    .get(
      "/",
      async ({ context, session }) => {
        const account = await getOwnAccount(context, session.principal.id);
        return { data: ownRecord(account, context.clock.now()) };
      },
      {
        response: responses(data(OwnRecord), 401, 403),
        detail: {
          operationId: "getOwnAccount",
          summary: "Read your own account, and how to connect to it",
          description:
            "Where to connect with ssh, as a command and as texts for ~/.ssh/config and ~/.ssh/known_hosts; until when, whom to ask, and what became of a request for more time.",
        },
      },
    )
    .post(
      "/lock",
      async ({ context, session, cookie }) => {
        const user = await lockOwnAccount(context, session.principal.id);
        setSessionCookie(web, cookie, undefined);
        const isExpired = statusAt(user, context.clock.now()) === "expired";
        const known = hostsRecord(await awaitHosts(context, session.principal.id));
        return { data: { status: isExpired ? ("expired" as const) : ("disabled" as const), ...known } };
      },
      {
        response: responses(data(Locked), 400, 401, 403, 404, 409),
        detail: {
          operationId: "lockOwnAccount",
          summary: "Shut your own account: this was not me",
          description:
            "As when an administrator disables it: no key opens it, and what runs in it ends. All your sessions with this service end as well, this one included. The administrators are mailed, and only they can enable it again. Expired accounts stay expired, and will be disabled when they are extended.",
          responses: {
            200: { description: "Done", headers: { "Set-Cookie": { schema: { type: "string" as const } } } },
            409: { description: "Final: disabled already, or being deleted" },
            500: {
              description:
                "The host could not do all of it. The message says what holds; what is left is tried again until it is done. Your sessions have ended all the same",
            },
          },
        },
      },
    )
    .post(
      "/extension",
      async ({ context, session, body, status }) => {
        const application = await requestExtension(context, session.principal.id, body);
        return status(201, { data: applicationRecord(application) });
      },
      {
        parse,
        body: ExtensionRequest,
        response: created(data(ApplicationRecord), 400, 401, 403, 404, 409),
        detail: {
          operationId: "requestExtension",
          summary: "Ask for more time",
          description:
            "Administrators review it as they do applications; the outcome comes by e-mail. Accounts that are active may ask, and expired ones until they are deleted. The reason is kept as `purpose`; `reason` is the reviewer's.",
          responses: {
            409: {
              description:
                "A request of yours is pending; or, which is final, the account is disabled or being deleted, or its recycle period is over",
            },
          },
        },
      },
    )
    .get(
      "/keys",
      async ({ context, session }) => ({
        data: { items: (await listKeys(context, session.principal.id)).map(keyRecord) },
      }),
      {
        response: responses(data(KeyList), 401, 403, 404),
        detail: {
          operationId: "listOwnKeys",
          summary: "List your own active keys",
          description: "Oldest first, and not paged.",
        },
      },
    )
    .post(
      "/keys",
      async ({ context, session, body, status }) => {
        const { name, public_key: publicKey, source_networks: sourceNetworks } = body;
        const key = await uploadKey(context, session.principal.id, { name, publicKey, sourceNetworks });
        return status(201, { data: keyRecord(key) });
      },
      {
        parse,
        body: NewKey,
        response: created(data(KeyRecord), 400, 401, 403, 404, 409),
        detail: {
          operationId: "uploadKey",
          summary: "Upload a public key",
          description:
            "When this returns, the authorized-keys file on the host holds the key. Only active users may upload.",
          responses: {
            409: {
              description:
                "The user is not active, the key is already active on this host (whoever owns it), or the user has too many keys",
            },
            500: HOST_FAILURE,
          },
        },
      },
    )
    .patch(
      "/keys/:id",
      async ({ context, session, params, body }) => ({
        data: keyRecord(
          await otherFailuresAs(
            "internal",
            ["not_found", "invalid"],
            updateKey(context, session.principal.id, params.id, {
              name: body.name,
              sourceNetworks: body.source_networks,
            }),
          ),
        ),
      }),
      {
        parse,
        params: IdParams,
        body: KeyChanges,
        response: responses(data(KeyRecord), 400, 401, 403, 404),
        detail: {
          operationId: "renameKey",
          summary: "Change a key's name, or from where it may be used",
          description:
            "Only the fields that are sent change; at least one must be. An empty list of networks stands for the account's own. When this returns, the authorized-keys file on the host refuses the key from outside its networks, and SSH sessions from outside have ended. The name alone never reaches the host.",
          responses: {
            500: {
              description:
                "The networks could not be widened, and nothing was changed; or they are narrowed and stored, but the host could not do all of it, and the service keeps trying. The message says which",
            },
          },
        },
      },
    )
    .delete(
      "/keys/:id",
      async ({ context, session, params }) => {
        const { id } = session.principal;
        const key = keyRecord(await revokeKey(context, id, params.id));
        return { data: { ...key, ...hostsRecord(await awaitHosts(context, id)) } };
      },
      {
        params: IdParams,
        response: responses(data(RevokedKey), 400, 401, 403, 404),
        detail: {
          operationId: "revokeKey",
          summary: "Revoke a key at once",
          description:
            "When this returns, the authorized-keys file on the host no longer holds the key, and the sessions it opened have ended.",
          responses: {
            500: {
              description:
                "The key could not be revoked cleanly. The message says what holds: if the user was disabled, the key no longer works. Final if the host account is missing or is not one that uam made: an administrator of the host must sort it out",
            },
          },
        },
      },
    )
    .get(
      "/audit",
      async ({ context, session, query }) => {
        if (session.principal.email === undefined) throw deleted();
        const page = { page: query.page, pageSize: query.page_size };
        const { total, items } = await listOwnAudit(context, session.principal.id, page);
        return { data: { total, items: items.map(auditRecord) } };
      },
      {
        query: PageQuery,
        response: responses(paged(AuditRecord), 400, 401, 403),
        detail: {
          operationId: "listOwnAudit",
          summary: "Read your own audit trail",
          description: "Newest first: what the caller did, and what was done to the caller or the caller's keys.",
        },
      },
    );
}

function deleted(): UamError {
  return new UamError("unauthorized", "The user of this session was deleted");
}
