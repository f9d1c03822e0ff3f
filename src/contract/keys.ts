/** SSH public keys, in requests and answers. */

import * as v from "valibot";
import { KEY_STATUSES } from "../shared/statuses.ts";
import { described, id, idNumber, networks, newNetworks, text, timestamp } from "./fields.ts";
import { hosts } from "./hosts-confirmation.ts";

const PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILaNJJBGzPmkiX3Z160Q00v6FSEYUOHcfhr2QsREXeNz";

const KEY_NETWORKS = "From where the key may be used for SSH; empty: from wherever the account's keys may";

const fields = {
  id,
  name: described("laptop"),
  type: described("ssh-ed25519"),
  bits: v.pipe(v.number(), v.integer(), v.examples([256])),
  fingerprint: described("SHA256:1B3UCMmezYP6HYhhuY+m0z7uZ8sRqIYhPHcUh9W9eKA", "As `ssh-keygen -l` prints it"),
  public_key: described(PUBLIC_KEY, "Type and key, without a comment"),
  source_networks: networks(
    `${KEY_NETWORKS}. Where the account's were narrowed since, only what both have in common counts`,
  ),
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

export const KeyList = v.object({ items: v.array(KeyRecord) });

/** `:id` is the user's, `:keyId` the key's. */
export const UserKeyParams = v.object({ id: idNumber(), keyId: idNumber() });

const newName = text("laptop", "1 to 64 characters after trimming; never reaches the host", { minLength: 1 });

export const NewKey = v.pipe(
  v.object({
    name: newName,
    public_key: text(`${PUBLIC_KEY} alice@laptop`, "One line as in `id_ed25519.pub`; the comment is not kept"),
    source_networks: newNetworks(`${KEY_NETWORKS}. None may be wider than the account's`),
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
