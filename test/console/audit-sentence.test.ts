/** Audit records in words for administrators. */

import { describe, expect, test } from "bun:test";
import { type AuditRecord, linesOf, sentenceOf } from "../../src/console/pages/admin/audit/sentence.ts";
import { actionTexts } from "../../src/console/texts/admin/actions.ts";
import { isolated } from "../../src/console/ui/isolated.ts";
import { AUDIT_ACTIONS } from "../../src/shared/product/audit-actions.ts";

const WORDING = { texts: actionTexts, isolated: (text: string) => `[${text}]`, moment: (time: string) => `<${time}>` };

function record(more: Partial<AuditRecord>): AuditRecord {
  return {
    ...{ id: 1, created_at: "2026-11-20T08:00:00.000Z", actor_type: "admin", actor: "root", action: "user.create" },
    ...{ resource_type: "user", resource_id: "7", detail: "{}", result: "success", ip: "" },
    ...more,
  };
}

const say = (more: Partial<AuditRecord>) => sentenceOf(record(more), WORDING);

describe("sentenceOf()", () => {
  test("has words for every action, done and tried", () => {
    for (const action of AUDIT_ACTIONS) {
      const done = say({ action }).sentence;
      expect(done).toStartWith("Administrator [root] ");
      expect(done).not.toContain(action);
      expect(say({ action, result: "failed" }).sentence).toStartWith("Administrator [root] tried to ");
      expect(actionTexts.actions[action].label).not.toBe("");
    }
    expect(Object.keys(actionTexts.actions).sort()).toEqual([...AUDIT_ACTIONS].sort());
  });

  test("names a token with its owner, and as what was made", () => {
    const by = { actor_type: "token", actor: "nightly" } as const;
    const detail = JSON.stringify({ username: "alice", owner: "root", token_id: 7 });
    expect(say({ ...by, action: "user.disable", detail }).sentence).toBe(
      "The token [nightly] of [root] disabled the user [alice].",
    );
    expect(say({ ...by, action: "user.disable" }).sentence).toBe("The token [nightly] disabled a user.");
    const made = JSON.stringify({ administrator: "root", name: "nightly", role: "auditor", days: 30 });
    expect(say({ action: "token.create", resource_type: "token", detail: made }).sentence).toBe(
      "Administrator [root] made the token [nightly] of [root].",
    );
  });

  test("names whom and what it is about", () => {
    const detail = JSON.stringify({ username: "alice", expire_at: "2027-01-01T00:00:00.000Z" });
    expect(say({ detail }).sentence).toBe(
      "Administrator [root] created the user [alice], until <2027-01-01T00:00:00.000Z>.",
    );
    const setting = { action: "settings.update", resource_type: "setting", resource_id: "policy.default_ttl" } as const;
    expect(say({ ...setting, detail: '{"value":"60d","old_value":"90d"}' }).sentence).toBe(
      "Administrator [root] set [policy.default_ttl] from 90d to 60d.",
    );
    expect(say({ action: "approval.review", detail: '{"approve":false,"username":"bo"}' }).sentence).toBe(
      "Administrator [root] rejected the application of [bo].",
    );
    expect(say({ action: "admin.update", detail: '{"username":"olga","old_role":"owner"}' }).sentence).toBe(
      "Administrator [root] changed the role of the administrator [olga].",
    );
  });

  test.each([
    ["user.extend", "extended the user [alice]"],
    ["user.shorten", "brought forward the end of the user [alice]"],
  ] as const)("says of %s the end before, too", (action, did) => {
    const [expire_at, old_expire_at] = ["2027-12-31T00:00:00.000Z", "2027-01-27T00:00:00.000Z"];
    const detail = { username: "alice", expire_at };
    const said = (recorded: object) => say({ action, detail: JSON.stringify(recorded) }).sentence;
    expect(said({ ...detail, old_expire_at })).toBe(
      `Administrator [root] ${did} until <${expire_at}>, instead of <${old_expire_at}>.`,
    );
    expect(said(detail)).toBe(`Administrator [root] ${did} until <${expire_at}>.`);
  });

  test("says why something failed", () => {
    const failed = say({ result: "failed", detail: '{"username":"alice","err":"The name is taken"}' });
    expect(failed).toEqual({
      sentence: "Administrator [root] tried to create the user [alice].",
      why: "The name is taken",
    });
  });

  test("reads any detail with care, and names an action that it does not know", () => {
    for (const detail of ["", "null", "[]", "7", "{", '{"username":7,"expire_at":"x","days":"3"}']) {
      expect(say({ detail }).sentence).toBe("Administrator [root] created a user.");
    }
    const unknown = say({ action: "constructor" as AuditRecord["action"], actor_type: "system", actor: "" });
    expect(unknown.sentence).toBe("The service did “[constructor]”.");
  });

  test("lets no name reorder the sentence", () => {
    const { sentence } = sentenceOf(record({ actor: "\u202Eevil\u2069" }), { ...WORDING, isolated });
    expect(sentence).toBe("Administrator \u2068evil\u2069 created a user.");
  });
});

test("linesOf() shows the detail as an object, and as it is where it is none", () => {
  expect(JSON.parse(linesOf(record({ detail: '{"a":1}' }))).detail).toEqual({ a: 1 });
  expect(JSON.parse(linesOf(record({ detail: "{broken" }))).detail).toBe("{broken");
});
