import { describe, expect, test } from "bun:test";
import { nameRefusals } from "../../src/host/refusal-reason.ts";
import { ABSENT_HOST } from "../../src/protocol/absent-host.ts";
import { UamError } from "../../src/shared/errors.ts";

/** What a caller gets of a host whose every question about keys throws that. */
function thrownBy(error: unknown): Promise<unknown> {
  const host = nameRefusals({ ...ABSENT_HOST, keyRefusal: () => Promise.reject(error) });
  return host.keyRefusal({ type: "ssh-ed25519", bits: 256 }).catch((thrown: unknown) => thrown);
}

describe("nameRefusals()", () => {
  test("gives a refusal without a reason of its own the host's, and keeps all else of it", async () => {
    const error = new UamError("conflict", "The account is not ours");
    const thrown = await thrownBy(error);
    expect(thrown).toBeInstanceOf(UamError);
    expect(thrown).toMatchObject({ code: "conflict", message: error.message, reason: "host.refused", cause: error });
  });

  test("keeps a better reason", async () => {
    const error = new UamError("conflict", "The account is missing", { reason: "user.not_active" });
    expect(await thrownBy(error)).toBe(error);
  });

  test("keeps what is no refusal", async () => {
    const error = new Error("EIO");
    expect(await thrownBy(error)).toBe(error);
  });

  test("keeps answers, and what is no question", async () => {
    const host = nameRefusals(ABSENT_HOST);
    expect(host.mode).toBe("none");
    expect(await host.nameTaken("alice")).toBe(false);
  });
});
