import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readDetail } from "../../../../src/console/audit-detail.ts";
import { sentenceOf, type TrailRecord } from "../../../../src/console/pages/user/trail/sentence.ts";
import { trailTexts } from "../../../../src/console/texts/user/trail.ts";
import { AUDIT_ACTIONS } from "../../../../src/shared/product/audit-actions.ts";
import { ACTOR_TYPES } from "../../../../src/shared/product/statuses.ts";

const WORDING = { texts: trailTexts, isolated: (text: string) => text, moment: (time: string) => time };

function said(record: Partial<TrailRecord>) {
  const whole = {
    actor_type: "user",
    actor: "alice",
    action: "key.create",
    detail: "{}",
    result: "success",
    ...record,
  };
  return sentenceOf(whole, "alice", WORDING);
}

describe("sentenceOf", () => {
  test("says what one did, and what others did", () => {
    expect(said({ detail: '{"name":"laptop"}' }).sentence).toBe("You added the key laptop.");
    expect(
      said({
        actor_type: "admin",
        actor: "root-admin",
        action: "user.extend",
        detail: '{"days":30,"expire_at":"2027-01-01T00:00:00Z"}',
      }).sentence,
    ).toBe("The administrator root-admin extended your access to 2027-01-01T00:00:00Z.");
    expect(said({ actor_type: "system", actor: "", action: "lifecycle.expire" }).sentence).toBe(
      "The service ended your access, because its time was up.",
    );
    expect(said({ actor: "mallory", action: "key.revoke", detail: '{"fingerprint":"SHA256:x"}' }).sentence).toBe(
      "The user mallory revoked the key SHA256:x.",
    );
    expect(
      said({ action: "user.update", detail: '{"email":"b@example.org","old_email":"a@example.org"}' }).sentence,
    ).toBe("You changed your e-mail address.");
    expect(said({ action: "extension.request", detail: '{"days":1}' }).sentence).toBe("You asked for 1 more day.");
  });

  test("says that something failed, and why", () => {
    expect(said({ result: "failed", detail: '{"name":"laptop","err":"The key is a duplicate"}' })).toEqual({
      sentence: "You tried to add the key laptop.",
      why: "The key is a duplicate",
    });
    expect(said({ actor_type: "anonymous", actor: "", action: "auth.otp_login", result: "failed" }).sentence).toBe(
      "Somebody, perhaps you, tried to log in to this service as you.",
    );
  });

  test("says that a system of the administrators did it", () => {
    const by = { actor_type: "token", actor: "nightly", action: "user.enable" } as const;
    expect(said(by).sentence).toStartWith("A system of the administrators, nightly, ");
  });

  test("shows an action that it does not know as it is recorded", () => {
    expect(said({ action: "moon.landing" }).sentence).toBe("You did “moon.landing”.");
    expect(said({ action: "constructor" }).sentence).toBe("You did “constructor”.");
  });

  test("knows every action that can concern a user", () => {
    // A list of users is of nobody in particular.
    const foreign =
      /^(?:user\.export$|sponsor\.(?:vouch|decline|move)$|review\.(?:start|close)$|auth\.(?:admin|passkey|totp|sso)_|(?:settings|admin|audit|service|token|webhook|company|host|host_token|host_group|fleet|profile)\.)/;
    const missing = AUDIT_ACTIONS.filter(
      (action) => !foreign.test(action) && !Object.hasOwn(trailTexts.actions, action),
    );
    expect(missing).toEqual([]);
  });

  test("reads whatever is in the detail without failing", () => {
    const detail = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom("", "null", "[]", '{"name":{"a":1},"days":"x","expire_at":7}'),
    );
    fc.assert(
      fc.property(
        detail,
        fc.constantFrom(...AUDIT_ACTIONS, "", "__proto__"),
        fc.constantFrom(...ACTOR_TYPES, "other"),
        fc.constantFrom("success", "failed"),
        (text, action, actor_type, result) => {
          const { sentence, why } = said({ detail: text, action, actor_type, result });
          expect(sentence).toMatch(/\.$/);
          expect(sentence).not.toMatch(/undefined|null|NaN|\[object/);
          expect(typeof why).toBe("string");
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test("readDetail is an object whatever the text", () => {
  for (const text of ["", "null", "[1]", "7", '"x"', "{"]) expect(readDetail(text)).toEqual({});
  expect(readDetail('{"a":1}')).toEqual({ a: 1 });
});
