import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AUDIT_KEY_FILE, openSeal } from "../../../src/domain/audit/key.ts";
import { createTestApp } from "../../support/app.ts";

describe("openSeal()", async () => {
  const t = await createTestApp();
  const dataDir = mkdtempSync(join(tmpdir(), "uam-audit-key-"));
  const path = join(dataDir, AUDIT_KEY_FILE);
  const source = { auditKey: undefined, dataDir };
  beforeEach(async () => {
    rmSync(path, { force: true });
    await t.alter("alter table audit_key disable trigger user");
    await t.alter("delete from audit_key");
    await t.alter(
      "alter table audit_key enable always trigger audit_guard_rows, enable always trigger audit_guard_truncate",
    );
  });
  afterAll(async () => {
    rmSync(dataDir, { recursive: true });
    await t.close();
  });

  test("openSeal() creates a key that only its owner can read, and uses it from then on", async () => {
    const seal = await openSeal(t.db, source);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual([AUDIT_KEY_FILE]);
    expect((await openSeal(t.db, source)).fingerprint()).toEqual(seal.fingerprint());
    const auditKey = Buffer.from(readFileSync(path, "utf8").trim(), "hex");
    expect((await openSeal(t.db, { ...source, auditKey })).fingerprint()).toEqual(seal.fingerprint());
  });

  test("openSeal() called by several at once gives them one key", async () => {
    const seals = await Promise.all(Array.from({ length: 5 }, () => openSeal(t.db, source)));
    expect(new Set(seals.map((seal) => Buffer.from(seal.fingerprint()).toString("hex"))).size).toBe(1);
  });

  test("openSeal() refuses another key, and does not create one where the log's is missing", async () => {
    await openSeal(t.db, source);
    const auditKey = new Uint8Array(32);
    await expect(openSeal(t.db, { ...source, auditKey })).rejects.toMatchObject({ code: "conflict" });
    rmSync(path);
    await expect(openSeal(t.db, source)).rejects.toMatchObject({ code: "conflict" });
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("openSeal() refuses a file that holds no key, and leaves it alone", async () => {
    for (const text of ["", "abc", `${"a".repeat(64)} `, "a".repeat(65)]) {
      writeFileSync(path, text);
      await expect(openSeal(t.db, source)).rejects.toThrow("does not hold 64 hexadecimal digits");
      expect(readFileSync(path, "utf8")).toBe(text);
    }
  });
});
