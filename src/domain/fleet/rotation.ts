/** Changing an agent's key, with its present one. */

import { Buffer } from "node:buffer";
import { verify } from "node:crypto";
import { and, eq } from "drizzle-orm";
import type { Rotation } from "../../protocol/fleet.ts";
import { checkingKey, keyFingerprint, rotationBytes } from "../../protocol/fleet-signature.ts";
import { UamError } from "../../shared/errors.ts";
import { isDuplicate } from "../../store/client.ts";
import { hosts } from "../../store/schema-fleet.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { parseAgentKey } from "./enrolment.ts";
import type { AdmittedHost } from "./host-row.ts";

/**
 * Binds a new key to the host; the present one, `oldKey` in base64, is void once this returns. Throws `invalid` for a key whose owner does not
 * prove that they have it, `conflict` for one that a host has, for a locked host, and where the present key was changed meanwhile.
 */
export async function rotateKey(
  context: Context,
  host: Pick<AdmittedHost, "id" | "name" | "status">,
  { oldKey, rotation }: { readonly oldKey: string; readonly rotation: Rotation },
): Promise<void> {
  const entry = { action: "host.rotate", resourceId: String(host.id), detail: { host: host.name } } as const;
  await audited(context, entry, async (op) => {
    const publicKey = parseAgentKey(rotation.public_key);
    const old = Buffer.from(oldKey, "base64");
    const signature = Buffer.from(rotation.signature, "base64");
    if (!verify(null, rotationBytes(host.id, old), checkingKey(publicKey), signature)) {
      throw new UamError("invalid", "signature must be by the new key, over the old one");
    }
    if (host.status === "locked") throw new UamError("conflict", "The host is locked: its key stays as it is");
    try {
      const isOld = and(eq(hosts.id, host.id), eq(hosts.publicKey, new Uint8Array(old)));
      const [changed] = await op.tx.update(hosts).set({ publicKey }).where(isOld).returning({ id: hosts.id });
      if (changed === undefined) throw new UamError("conflict", "The key was changed by another request");
    } catch (error) {
      if (!isDuplicate(error, "hosts_publicKey_unique")) throw error;
      throw new UamError("conflict", "A host has this key already", { reason: "host.key_taken" });
    }
    op.record({ detail: { key: keyFingerprint(publicKey), old_key: keyFingerprint(old) } });
  });
}
