/** Changing an agent's key, authenticated by its current one. */

import { Buffer } from "node:buffer";
import { verify } from "node:crypto";
import { and, eq } from "drizzle-orm";
import type { Rotation } from "../../protocol/fleet.ts";
import { checkingKey, keyFingerprint, rotationBytes } from "../../protocol/fleet-signature.ts";
import { UamError } from "../../shared/errors.ts";
import { HOUR } from "../../shared/time/clock.ts";
import { isDuplicate } from "../../store/client.ts";
import { hosts } from "../../store/schema-fleet.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Services } from "../operation/context.ts";
import { parseAgentKey } from "./enrolment.ts";

/** Most attempts of one host; each is a record, even one that does not change the key. */
const MAX_AN_HOUR = 60;

export interface RotationLimiter {
  /** Counts an attempt of the host's. Throws `limited` if the maximum within an hour is reached; that attempt is not counted. */
  begin(host: Pick<AdmittedHost, "id" | "name">): void;
}

/** Counts attempts in memory, for as long as the process runs: an attacker on a host must not fill the audit log. */
export function createRotationLimiter({ clock, log }: Pick<Services, "clock" | "log">): RotationLimiter {
  const attempts = new Map<number, readonly number[]>();
  return {
    begin: ({ id, name }) => {
      const now = clock.now().getTime();
      const recent = (attempts.get(id) ?? []).filter((at) => at > now - HOUR && at <= now);
      const [oldest = now] = recent;
      attempts.set(id, recent);
      if (recent.length >= MAX_AN_HOUR) {
        log.warn("a host changes its key more often than any agent does", { host: name });
        const retryAfter = Math.max(1, Math.ceil((oldest + HOUR - now) / 1000));
        const sentence = `A host changes its key at most ${MAX_AN_HOUR} times an hour; try again in ${retryAfter} seconds`;
        throw new UamError("limited", sentence, { retryAfter });
      }
      attempts.set(id, [...recent, now]);
    },
  };
}

/**
 * Binds a new key to the host; the current one, `oldKey` in base64, is void once this returns. Throws `invalid` for a key without proof of its
 * possession, and `conflict` for a key that a host has, for a locked host, and if the current key was changed meanwhile.
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
