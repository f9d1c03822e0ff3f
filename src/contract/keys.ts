/** /users/:id/keys and /me/keys: SSH public keys. */

import * as v from "valibot";
import { ATTESTED_KEY_COMMAND } from "../shared/product/attested-key.ts";
import { MOST_FOUND_KEYS } from "../shared/product/limits.ts";
import { FOUND_KEY_STATUSES, KEY_STATUSES } from "../shared/product/statuses.ts";
import { described, IdParams, id, idNumber, listed, listOf, networks, newNetworks, text, timestamp } from "./fields.ts";
import { hosts } from "./hosts-confirmation.ts";
import { ACCOUNT, externalUsers, operators, type Routes } from "./route.ts";

const PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILaNJJBGzPmkiX3Z160Q00v6FSEYUOHcfhr2QsREXeNz";

const KEY_NETWORKS = "From where the key may be used for SSH; empty: from wherever the account's keys may";

const fields = {
  id,
  name: described("laptop"),
  type: described("ssh-ed25519"),
  bits: v.pipe(v.number(), v.integer(), v.examples([256])),
  fingerprint: described("SHA256:1B3UCMmezYP6HYhhuY+m0z7uZ8sRqIYhPHcUh9W9eKA", "As `ssh-keygen -l` prints it"),
  public_key: described(PUBLIC_KEY, "Type and key, without a comment"),
  model: v.pipe(
    v.nullable(described("CN=Yubico U2F EE Serial 1169793416, OU=Authenticator Attestation, O=Yubico AB, C=SE")),
    v.description(
      "Whose hardware made a security key, by the certificate that proved it when it was uploaded; null: not proven",
    ),
  ),
  aaguid: v.pipe(
    v.nullable(described("73bb0cd4-e502-49b8-9c6f-b59445bf720b")),
    v.description("The identifier of that model; null: not proven"),
  ),
  source_networks: networks(`${KEY_NETWORKS}. If the account's were narrowed since, only networks in both count`),
  status: v.picklist(KEY_STATUSES),
  created_at: timestamp,
  revoked_at: v.nullable(timestamp),
  last_used_at: v.pipe(
    v.nullable(timestamp),
    v.description("The last SSH login with the key, from sshd's own log, read each minute; null where none is known"),
  ),
  last_used_from: described("192.0.2.7", "The client's address then; empty where none is known"),
};

export const KeyRecord = v.pipe(v.object(fields), v.title("SshKey"));

/** A key that was revoked just now. */
export const RevokedKey = v.pipe(v.object({ ...fields, hosts }), v.title("RevokedSshKey"));

const ChangedKey = v.pipe(v.object({ ...fields, hosts }), v.title("ChangedSshKey"));

const FoundKeyRecord = v.pipe(
  v.object({
    fingerprint: fields.fingerprint,
    type: fields.type,
    options: described('from="192.0.2.0/24"', "What limited it in its file, which is not kept; empty for nothing"),
    comment: described("alice@laptop", "What stood behind it, in its owner's words; empty for nothing"),
    found_in: described("/home/alice/.ssh/authorized_keys", "The file that held it; empty where that is not known"),
    status: v.pipe(
      v.picklist(FOUND_KEY_STATUSES),
      v.description(
        "`found`: it counts once it is confirmed; `stored`: it is or was one of the user's keys; `dismissed`: it will not count",
      ),
    ),
    refusal: described("", "Why it cannot be confirmed, as a sentence; empty if nothing is known that prevents it"),
  }),
  v.title("FoundKey"),
);

const FoundKeyAnswer = v.pipe(
  v.object({
    answer: v.pipe(v.picklist(["confirm", "dismiss"]), v.description("Whether they shall open the account")),
    fingerprints: listOf(
      text("SHA256:1B3UCMmezYP6HYhhuY+m0z7uZ8sRqIYhPHcUh9W9eKA", "As the list has it", { maxLength: 64 }),
      MOST_FOUND_KEYS,
    ),
  }),
  v.title("FoundKeyAnswer"),
);

/** `:id` is the user's, `:keyId` the key's. */
const UserKeyParams = v.object({ id: idNumber(), keyId: idNumber() });

const newName = text("laptop", "1 to 64 characters after trimming; never reaches the host", { minLength: 1 });

export const NewKey = v.pipe(
  v.object({
    name: newName,
    public_key: text(`${PUBLIC_KEY} alice@laptop`, "One line as in `id_ed25519.pub`; the comment is not kept"),
    source_networks: newNetworks(`${KEY_NETWORKS}. None may be wider than the account's`),
    attestation: v.optional(
      v.pipe(
        v.object({
          challenge: text("9Zb1…", "The challenge as `GET /me/keys/challenge` gave it", { maxLength: 400 }),
          statement: text(
            "AAAAEXNzaC1zay1hdHRlc3QtdjAxAAAC…",
            "The file that `-O write-attestation` named, in base64",
            {
              maxLength: 12_000,
            },
          ),
        }),
        v.description(
          "Proof of the make of a security key; needed where `attestation` of the user's profile is `required`",
        ),
      ),
    ),
  }),
  v.title("NewSshKey"),
);

export const KeyChanges = v.pipe(
  v.object({
    name: v.optional(newName),
    source_networks: newNetworks(`${KEY_NETWORKS}. None may be wider than the account's`),
  }),
  v.title("SshKeyChanges"),
);

/** The host's refusal. */
const HOST_FAILURE =
  "The host refused; nothing was changed. Final if the host account is missing or is not one that uam made: an administrator of the host must sort it out. Otherwise trying again may help";

export const keys = {
  "GET /users/:id/keys": {
    operationId: "listUserKeys",
    summary: "List a user's active keys",
    description: "Oldest first, and not paged.",
    who: operators,
    params: IdParams,
    answer: listed(KeyRecord),
    refusals: { 404: true },
    reasons: ["user.missing"],
  },
  "DELETE /users/:id/keys/:keyId": {
    operationId: "revokeUserKey",
    summary: "Revoke a user's key at once",
    description:
      "As `DELETE /me/keys/{id}`: when this returns, the key is out of the authorized-keys file and its sessions have ended. The user is mailed.",
    who: operators,
    params: UserKeyParams,
    answer: RevokedKey,
    refusals: {
      404: true,
      500: "The key could not be revoked cleanly. The message says what holds: if the user was disabled, the key no longer works",
    },
    reasons: ["user.missing", "key.missing", "access.owed"],
  },
  "GET /users/:id/found-keys": {
    operationId: "listFoundKeys",
    summary: "List the keys that were found when a user's account was adopted",
    description:
      "In the order of the files that sshd read for the account. Empty for an account that the service made. None of them counts until it is confirmed.",
    who: operators,
    params: IdParams,
    answer: listed(FoundKeyRecord),
    refusals: { 404: true },
    reasons: ["user.missing"],
  },
  "POST /users/:id/found-keys": {
    operationId: "answerFoundKeys",
    summary: "Confirm keys that were found when a user's account was adopted, or dismiss them",
    description:
      "Once this returns, keys that are confirmed open the account; the user is mailed. Keys that are dismissed cannot be confirmed later, but the user can upload them. If one of the keys was answered before, or cannot be stored, nothing is changed. Answers as the list does.",
    who: operators,
    records: "key.confirm",
    params: IdParams,
    body: FoundKeyAnswer,
    answer: listed(FoundKeyRecord),
    refusals: {
      404: true,
      409: "The account was not adopted, a key was confirmed or dismissed before, the key is already active on this host (whoever owns it), the user is not active, or has too many keys",
      500: `${HOST_FAILURE}. Of several keys the first may be stored; the message says how many are`,
    },
    reasons: [
      ...ACCOUNT,
      ...(["user.missing", "user.not_active", "state.conflict", "key.missing", "key.duplicate", "key.format"] as const),
      ...(["key.private", "key.type", "key.weak", "key.attestation_missing", "key.limit"] as const),
    ],
  },
  "GET /me/keys": {
    operationId: "listOwnKeys",
    summary: "List your own active keys",
    description: "Oldest first, and not paged.",
    who: externalUsers,
    answer: listed(KeyRecord),
    refusals: { 404: true },
    reasons: ["user.missing"],
  },
  "POST /me/keys": {
    operationId: "uploadKey",
    summary: "Upload a public key",
    description: "When this returns, the authorized-keys file on the host holds the key. Only active users may upload.",
    who: externalUsers,
    records: "key.create",
    body: NewKey,
    status: 201,
    answer: KeyRecord,
    refusals: {
      404: true,
      409: "The user is not active or has not accepted the terms of use, the key is already active on this host (whoever owns it), or the user has too many keys",
      500: HOST_FAILURE,
    },
    reasons: [
      ...ACCOUNT,
      "user.missing",
      "user.not_active",
      "terms.pending",
      "key.duplicate",
      "key.private",
      "key.format",
      "key.type",
      "key.weak",
      "key.attestation_missing",
      "key.attestation_wrong",
      "key.challenge",
      "key.limit",
      "network.invalid",
      "network.wider",
    ],
  },
  "GET /me/keys/challenge": {
    operationId: "challengeKey",
    summary: "Get a challenge for a security key",
    description:
      "Save `challenge`, decoded, as the file that `command` names, and run `command` there: ssh-keygen makes a key, and writes an attestation that the key was made for this challenge by hardware of a known make. Then upload the key with both files. Nothing is stored.",
    who: externalUsers,
    answer: v.pipe(
      v.object({
        challenge: described("9Zb1…", "The content of the file, in base64; used up by a key that was accepted with it"),
        expires_at: timestamp,
        command: described(ATTESTED_KEY_COMMAND),
      }),
      v.title("KeyChallenge"),
    ),
  },
  "PATCH /me/keys/:id": {
    operationId: "renameKey",
    summary: "Change a key's name, or from where it may be used",
    description:
      "Only the fields that are sent change; at least one must be. An empty list of networks stands for the account's own. When this returns, the authorized-keys file on the host refuses the key from outside its networks, and SSH sessions from outside have ended. Where the user has an account on hosts with agents, an answer to fewer networks waits a few seconds for them, and `hosts` says what they have confirmed. The name alone never reaches the host.",
    who: externalUsers,
    records: "key.rename",
    params: IdParams,
    body: KeyChanges,
    answer: ChangedKey,
    refusals: {
      400: true,
      404: true,
      500: "The networks could not be widened, and nothing was changed; or they are narrowed and stored, but the host could not do all of it, and the service keeps trying. The message says which",
    },
    otherwise: 500,
    reasons: [
      ...ACCOUNT,
      "user.missing",
      "key.missing",
      "network.invalid",
      "network.wider",
      "state.conflict",
      "access.owed",
    ],
  },
  "DELETE /me/keys/:id": {
    operationId: "revokeKey",
    summary: "Revoke a key at once",
    description:
      "When this returns, the authorized-keys file on the host no longer holds the key, and the sessions it opened have ended.",
    who: externalUsers,
    onlyTakesAway: true,
    params: IdParams,
    answer: RevokedKey,
    refusals: {
      404: true,
      500: "The key could not be revoked cleanly. The message says what holds: if the user was disabled, the key no longer works. Final if the host account is missing or is not one that uam made: an administrator of the host must sort it out",
    },
    reasons: ["user.missing", "key.missing", "access.owed"],
  },
} as const satisfies Routes;
