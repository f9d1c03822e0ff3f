import { describe, expect, test } from "bun:test";
import { judgeAudit } from "../../src/build/advisories.ts";

const FOUND = JSON.stringify({ lodash: [{ id: 1, severity: "high", title: "Prototype pollution" }] });

describe("judgeAudit()", () => {
  test.each([
    ["nothing is found", 0, "{}\n", "", 0, "No known"],
    ["something is found", 1, FOUND, "", 1, "vulnerabilities in lodash"],
    ["something is found, whatever the exit code", 0, `bun audit v1.4.4\n${FOUND}`, "", 1, "lodash"],
    [
      "the registry offers no advisories",
      1,
      "",
      "error: POST https://registry.example/-/npm/v1/security/advisories/bulk - 405\n",
      3,
      "NOT CHECKED",
    ],
    [
      "the registry fails",
      1,
      "",
      "error: POST https://r.example/-/npm/v1/security/advisories/bulk - 503",
      1,
      "cannot be read",
    ],
    ["nobody answers", 1, "", "error: ConnectionRefused", 1, "cannot be read"],
    ["it ends badly with nothing found", 2, "{}", "error: out of memory", 1, "ended with 2"],
    ["the answer is cut off", 0, '{"lodash":[', "", 1, "cannot be read"],
  ])("says so if %s", (_, exitCode, stdout, stderr, expected, text) => {
    const verdict = judgeAudit(exitCode, stdout, stderr);
    expect(verdict.exitCode).toBe(expected);
    expect(verdict.text).toContain(text);
  });
});
