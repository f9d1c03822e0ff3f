/** /users/:id/keys and /me/keys: SSH public keys. */

import type { keys } from "../../../contract/keys.ts";
import { confirmKeys, dismissKeys, listFoundKeys } from "../../../domain/adoption/found.ts";
import { awaitHosts } from "../../../domain/hosts/confirmation.ts";
import { issueChallenge } from "../../../domain/keys/challenge.ts";
import { listKeys, revokeKey, uploadKey } from "../../../domain/keys/keys.ts";
import { updateKey } from "../../../domain/keys/update.ts";
import { ATTESTED_KEY_COMMAND } from "../../../shared/product/attested-key.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import { foundKeyRecord } from "../../found-key-record.ts";
import { hostsRecord, keyRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";

export const keyHandlers: Handlers<typeof keys> = {
  "GET /users/:id/keys": async ({ context, params }) => ({
    items: (await listKeys(context, params.id)).map(keyRecord),
  }),

  "DELETE /users/:id/keys/:keyId": async ({ context, params }) => {
    const key = keyRecord(await revokeKey(context, params.id, params.keyId));
    return { ...key, ...hostsRecord(await awaitHosts(context, params.id)) };
  },

  "GET /users/:id/found-keys": async ({ context, params }) => ({
    items: (await listFoundKeys(context, params.id)).map(foundKeyRecord),
  }),

  "POST /users/:id/found-keys": async ({ context, params, body: { answer, fingerprints } }) => {
    if (answer === "confirm") await confirmKeys(context, params.id, fingerprints);
    else await dismissKeys(context, params.id, fingerprints);
    return { items: (await listFoundKeys(context, params.id)).map(foundKeyRecord) };
  },

  "GET /me/keys": async ({ context, session }) => ({
    items: (await listKeys(context, session.principal.id)).map(keyRecord),
  }),

  "POST /me/keys": async ({ context, session, body }) => {
    const { name, public_key: publicKey, source_networks: sourceNetworks, attestation } = body;
    const key = await uploadKey(context, session.principal.id, { name, publicKey, sourceNetworks, attestation });
    return keyRecord(key);
  },

  "GET /me/keys/challenge": async ({ context, session }) => {
    const { bytes, expiresAt } = await issueChallenge(context, session.principal.id);
    return {
      challenge: bytes.toString("base64"),
      expires_at: formatTimestamp(expiresAt),
      command: ATTESTED_KEY_COMMAND,
    };
  },

  "PATCH /me/keys/:id": async ({ context, session, params, body }) => {
    const { id } = session.principal;
    const changes = { name: body.name, sourceNetworks: body.source_networks };
    const { key, isNarrower } = await updateKey(context, id, params.id, changes);
    return { ...keyRecord(key), ...(isNarrower ? hostsRecord(await awaitHosts(context, id)) : {}) };
  },

  "DELETE /me/keys/:id": async ({ context, session, params }) => {
    const { id } = session.principal;
    const key = keyRecord(await revokeKey(context, id, params.id));
    return { ...key, ...hostsRecord(await awaitHosts(context, id)) };
  },
};
