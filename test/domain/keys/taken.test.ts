import { describe, expect, test } from "bun:test";
import { fingerprintTaken } from "../../../src/domain/keys/taken.ts";

describe("fingerprintTaken()", () => {
  test.each([
    [undefined, "Ask the administrators of this host."],
    ["help@example.org", "Write to help@example.org."],
    ["Ask Ann in room 12.", "Ask Ann in room 12."],
  ])("with the contact %p says: %s", (contact, sentence) => {
    const { code, message } = fingerprintTaken("SHA256:abc", { contact });
    expect(code).toBe("conflict");
    expect(message).toBe(
      `A key with the fingerprint SHA256:abc is already active on this host. Is it yours, but you did not add it? ${sentence}`,
    );
  });
});
