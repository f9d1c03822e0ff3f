/** Storing a new key. */

import { sql } from "drizzle-orm";
import { isDuplicate, preparedOnce } from "../../store/client.ts";
import { type KeyRow, sshKeys } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";
import { fingerprintTaken } from "./taken.ts";

const addKey = preparedOnce((tx) => {
  const { placeholder } = sql;
  const values = {
    userId: placeholder("userId"),
    name: placeholder("name"),
    type: placeholder("type"),
    bits: placeholder("bits"),
    fingerprint: placeholder("fingerprint"),
    publicKey: placeholder("publicKey"),
    model: placeholder("model"),
    aaguid: placeholder("aaguid"),
    sourceNetworks: placeholder("sourceNetworks"),
    createdAt: placeholder("createdAt"),
  };
  return tx.insert(sshKeys).values(values).returning().prepare("insert_key");
});

/** Stores the key. Throws `conflict` if one with its fingerprint is active. */
export async function insertKey({ tx, context }: Operation, key: typeof sshKeys.$inferInsert): Promise<KeyRow> {
  try {
    const [row] = await addKey(tx).execute({ ...key });
    if (row === undefined) throw new Error("insert returned no row");
    return row;
  } catch (error) {
    if (isDuplicate(error, "ssh_keys_active_fingerprint")) {
      throw fingerprintTaken(key.fingerprint, context.policy.site);
    }
    throw error;
  }
}
