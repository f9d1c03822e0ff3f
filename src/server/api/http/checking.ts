/** Requests against their schemas: a check ends at the first fault, and what is said about it holds nothing of what was sent. */

import * as v from "valibot";
import type { Routes } from "../../../contract/route.ts";
import { UamError } from "../../../shared/errors.ts";

const PARTS = ["params", "query", "body"] as const;
type RequestPart = (typeof PARTS)[number];

/**
 * Makes the contract's schemas refuse by themselves: throw `invalid`, which names the first field that is wrong. To be called before the first
 * request. Elysia would make an error of all faults, each with the whole of what was sent in its path: time and memory in the
 * square of a body's size, before anybody is asked who they are.
 */
export function refuseAtFirstFault(contract: Routes): void {
  for (const route of Object.values(contract)) {
    for (const part of PARTS) {
      const schema = route[part];
      if (schema !== undefined) Object.assign(schema["~standard"], { validate: checkOf(part, schema) });
    }
  }
}

/** The check as the Standard Schema interface has it, except that it throws. */
function checkOf(part: RequestPart, schema: v.GenericSchema) {
  return (value: unknown) => {
    const { success, output, issues } = v.safeParse(schema, value, { abortEarly: true, abortPipeEarly: true });
    if (success) return { value: output };
    throw new UamError("invalid", describe(part, issues[0]));
  };
}

/** Names the field and what is wrong with it. */
function describe(part: RequestPart, issue: v.BaseIssue<unknown>): string {
  const field = v.getDotPath(issue);
  if (field === null || field === "") return `The ${part} must be a JSON object with the required fields`;
  if (issue.received === "undefined") return `${field} is missing`;
  // All of a path and a query is text, unless it comes twice or cannot be decoded.
  if (part !== "body" && issue.expected === "string") {
    return part === "query" ? `${field} is given more than once` : `${field} is not valid percent-encoding`;
  }
  if (issue.kind === "schema" && issue.expected !== null) return `${field} must be ${article(issue.expected)}`;
  return `${field} ${issue.message}`;
}

function article(expected: string): string {
  if (expected.includes('"')) return `one of ${expected.replace(/[()]/g, "").replaceAll(" | ", ", ")}`;
  return expected === "string" || expected === "boolean" || expected === "number" ? `a ${expected}` : expected;
}
