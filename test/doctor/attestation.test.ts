import { afterAll, beforeAll, expect, test } from "bun:test";
import { checkAttestation } from "../../src/doctor/attestation.ts";
import { createProfile } from "../../src/domain/profiles/profiles.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { makeAuthority } from "../support/attestation.ts";

const STRONG = { kind: "shell", secondFactor: "verified" } as const;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

test("checkAttestation() names profiles whose keys nobody can prove, and nothing where none asks for it", async () => {
  await createProfile(app.system, { name: "verified", ...STRONG });
  expect(await checkAttestation(app.services)).toEqual([]);
  await createProfile(app.system, { name: "proven", ...STRONG, attestation: "required" });
  const [fault, ...others] = await checkAttestation(app.services);
  expect(others).toEqual([]);
  expect(fault).toMatchObject({ state: "fault", remedy: expect.stringContaining("*.pem") });
  expect(fault?.finding).toContain("The profile proven asks for proof");
  await createProfile(app.system, { name: "proven-too", ...STRONG, attestation: "required" });
  expect((await checkAttestation(app.services))[0]?.finding).toContain("2 profiles ask");
  const issuers = [makeAuthority("Soft Keys Root CA").certificate];
  expect(await checkAttestation({ ...app.services, attestationIssuers: () => issuers })).toMatchObject([
    { state: "ok", finding: "Makers of security keys that are believed: 1" },
  ]);
});
