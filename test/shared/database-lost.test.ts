import { describe, expect, test } from "bun:test";
import { isDatabaseFull, isDatabaseLost } from "../../src/shared/database-lost.ts";

function failure(code: unknown, message = "It failed", cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

describe("isDatabaseLost()", () => {
  test.each(["ECONNREFUSED", "EPIPE", "CONNECTION_CLOSED", "CONNECT_TIMEOUT", "08006", "57P01", "25006", "53300"])(
    "knows %s, also as the cause of another error",
    (code) => {
      expect(isDatabaseLost(failure(code))).toBe(true);
      expect(isDatabaseLost(new Error("Failed query", { cause: failure(code) }))).toBe(true);
    },
  );

  test.each(["53100", "23505", "EACCES", "", 8006])("does not take %j for it", (code) => {
    expect(isDatabaseLost(failure(code))).toBe(false);
  });

  test("tells a socket that is missing from a file that is", () => {
    expect(isDatabaseLost(failure("ENOENT", "connect ENOENT /run/uam/.s.PGSQL.5432"))).toBe(true);
    expect(isDatabaseLost(failure("ENOENT", "open ENOENT /etc/shadow"))).toBe(false);
  });

  test("is false for what is no error", () => {
    for (const thrown of [undefined, "ECONNREFUSED", { code: "ECONNREFUSED" }])
      expect(isDatabaseLost(thrown)).toBe(false);
  });
});

describe("isDatabaseFull()", () => {
  test("knows the disk that is full, also as a cause, and nothing else", () => {
    expect(isDatabaseFull(failure("53100"))).toBe(true);
    expect(isDatabaseFull(new Error("Failed query", { cause: failure("53100") }))).toBe(true);
    expect([failure("53300"), undefined, { code: "53100" }].map(isDatabaseFull)).toEqual([false, false, false]);
  });
});
