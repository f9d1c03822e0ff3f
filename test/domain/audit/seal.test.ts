import { describe, expect, test } from "bun:test";
import { createSeal, hex, sameSeal } from "../../../src/domain/audit/seal.ts";
import type { AuditContent } from "../../../src/domain/operation/context.ts";

const BEFORE = new Uint8Array(32).fill(9);
const seal = createSeal(new Uint8Array(32).fill(7));

const content: AuditContent = {
  id: 42,
  createdAt: new Date("2026-01-02T03:04:05.678Z"),
  actorType: "admin",
  actor: "root-admin",
  action: "user.create",
  resourceType: "user",
  resourceId: "7",
  detail: '{"username":"zoë"}',
  result: "success",
  ip: "192.0.2.1",
  subjectId: 7,
  nAction: 12,
  nActorAction: 14,
  nResourceAction: 15,
  nResourceActorAction: 16,
  nSubject: 17,
  sealedCounters: null,
};

/** The text that is hashed; a record's content must never be sealed differently, or every existing log would be reported as altered. */
const TEXT =
  `["${"09".repeat(32)}",42,1767323045678,"admin","root-admin","user.create","user","7",` +
  `"{\\"username\\":\\"zoë\\"}","success","192.0.2.1",7`;

function hmac(text: string): string {
  return new Bun.CryptoHasher("sha256", new Uint8Array(32).fill(7)).update(text).digest("hex");
}

describe("createSeal()", () => {
  test("createSeal() seals a record as the versions before migration 0004 did where they wrote it", () => {
    // Made by such a version.
    const known = "842a9b60144d829091701d21ca67c6d9722fb2cbac401b6c81fa27e947850528";
    const old = { ...content, sealedCounters: "[11,12,13,14,15,16]" };
    expect(hex(seal.record(BEFORE, old))).toBe(known);
    expect(hmac(`uam audit record 1\n${TEXT},11,12,13,14,15,16]`)).toBe(known);
    // The counters that the migration gave it are not what was sealed.
    expect(hex(seal.record(BEFORE, { ...old, nSubject: 1 }))).toBe(known);
  });

  test("createSeal() seals a record with its own counters since then", () => {
    expect(hex(seal.record(BEFORE, content))).toBe(hmac(`uam audit record 2\n${TEXT},12,14,15,16,17]`));
  });

  test("createSeal() makes no seal of one format that matches the other", () => {
    const pretended = { ...content, sealedCounters: "[12,14,15,16,17]" };
    expect(sameSeal(seal.record(BEFORE, pretended), seal.record(BEFORE, content))).toBe(false);
  });

  test("createSeal() seals checkpoints, and tells keys apart, as it always has", () => {
    const checkpoint = seal.checkpoint(42, new Date(1000), BEFORE, new Date(2000));
    expect(hex(checkpoint)).toBe("8f4cb358af5c5128f2dcd89e14489b8a0ca03091bb46a3230c632382651bfc1d");
    expect(hex(seal.fingerprint())).toBe("a6cb4f48a70f74fb4370e8f8cca1b2452fa9bba84fc8da1c342004e6f705aadd");
  });
});
