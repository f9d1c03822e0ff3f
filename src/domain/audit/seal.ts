/** The seal of the audit log: a chain of keyed hashes that nobody can continue or repair without the key. */

import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { AuditContent, Seal } from "../operation/context.ts";

/** HMAC-SHA256 (RFC 2104) takes a key of any length; this one is as long as its output. */
export const SEAL_KEY_BYTES = 32;

/** A seal that uses `key`. The same key gives the same seals, on every replica and after every restart. */
export function createSeal(key: Uint8Array): Seal {
  if (key.length !== SEAL_KEY_BYTES) throw new Error(`the audit key has ${key.length} bytes, not ${SEAL_KEY_BYTES}`);
  // JSON of an array keeps the fields apart: no two contents have the same text.
  const hash = (purpose: string, fields: readonly unknown[]) =>
    createHmac("sha256", key)
      .update(`uam ${purpose}\n${JSON.stringify(fields)}`)
      .digest();
  return {
    record: (previous, content) =>
      content.sealedCounters === null
        ? hash("audit record 2", [hex(previous), ...fieldsOf(content), ...countersOf(content)])
        : hash("audit record 1", [hex(previous), ...fieldsOf(content), ...parseCounters(content.sealedCounters)]),
    checkpoint: (id, createdAt, mac, purgedAt) =>
      hash("audit checkpoint 1", [id, createdAt.getTime(), hex(mac), purgedAt.getTime()]),
    fingerprint: () => hash("audit key 1", []),
    webhookSecret: (salt) => hash("webhook secret 1", [hex(salt)]),
    // RFC 5869; its input here never equals a text that is hashed above.
    keyFor: (purpose) => new Uint8Array(hkdfSync("sha256", key, new Uint8Array(), purpose, 32)),
  };
}

/** Whether two seals are equal; takes the same time wherever they differ. */
export function sameSeal(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** A seal as text, lower-case hexadecimal. */
export function hex(seal: Uint8Array): string {
  return Buffer.from(seal.buffer, seal.byteOffset, seal.byteLength).toString("hex");
}

function fieldsOf(content: AuditContent): readonly unknown[] {
  return [
    content.id,
    content.createdAt.getTime(),
    content.actorType,
    content.actor,
    content.action,
    content.resourceType,
    content.resourceId,
    content.detail,
    content.result,
    content.ip,
    content.subjectId,
  ];
}

/** Sealed too: otherwise an attacker could change them to hide records from lists. */
function countersOf(content: AuditContent): readonly number[] {
  return [
    content.nAction,
    content.nActorAction,
    content.nResourceAction,
    content.nResourceActorAction,
    content.nSubject,
  ];
}

/** Every version sealed an array of counters. For any other value the seal does not match, so the result does not matter. */
function parseCounters(text: string): readonly unknown[] {
  try {
    const counters: unknown = JSON.parse(text);
    return Array.isArray(counters) ? counters : [];
  } catch {
    return [];
  }
}
