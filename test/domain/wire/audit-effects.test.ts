import { describe, expect, test } from "bun:test";
import { mayChangeHosts, maySetHosts, touchOf, WITHOUT_SUBJECT } from "../../../src/domain/wire/audit-effects.ts";
import { AUDIT_ACTIONS } from "../../../src/shared/product/audit-actions.ts";

const touched = (action: string, subjectId: number | null = 7) => touchOf({ action, subjectId, resourceId: "3" });

describe("touchOf()", () => {
  test.each(["user.disable", "key.revoke", "user.lock", "lifecycle.expire", "reconcile.repair", "user.create"])(
    "%s concerns the hosts of its subject",
    (action) => {
      expect(touched(action)).toEqual({ kind: "user", user: 7, regrants: false });
      expect(touched(action, null)).toBeUndefined();
    },
  );

  test.each(["user.delete", "lifecycle.recycle", "user.grant"])(
    "%s concerns hosts they no longer have, too",
    (action) => {
      expect(touched(action)).toEqual({ kind: "user", user: 7, regrants: true });
    },
  );

  test.each(["auth.otp_login", "approval.review", "extension.request", "session.end", "key.rename", "fleet.confirmed"])(
    "%s concerns no host",
    (action) => {
      expect(touched(action)).toBeUndefined();
    },
  );

  test("records of hosts and groups concern them, whoever is the subject", () => {
    expect(touched("host.lock", null)).toEqual({ kind: "host", host: 3 });
    expect(touched("host_group.update", null)).toEqual({ kind: "group", group: 3 });
    expect(touched("fleet.accept", null)).toEqual({ kind: "all" });
    expect(touched("profile.update", null)).toEqual({ kind: "profile", profile: 3 });
    expect([touched("profile.create", null), touched("profile.delete", null)]).toEqual([undefined, undefined]);
    expect([touched("host.enrol", null), touched("host.drift")]).toEqual([undefined, undefined]);
    expect(AUDIT_ACTIONS.filter((action) => touched(action, null) !== undefined)).toEqual(WITHOUT_SUBJECT);
  });

  test("an action of a newer version may take access away, and change hosts", () => {
    expect(touched("user.freeze")).toEqual({ kind: "user", user: 7, regrants: false });
    expect([mayChangeHosts("host.move"), maySetHosts("user.freeze")]).toEqual([true, false]);
  });
});

test("hosts and grants are read again after what changes them", () => {
  expect(["host.enrol", "host_group.delete", "user.disable", "auth.logout"].map(mayChangeHosts)).toEqual([
    ...[true, true, false, false],
  ]);
  expect(["user.create", "user.grant", "user.delete", "user.disable"].map(maySetHosts)).toEqual([
    ...[true, true, true, false],
  ]);
});
