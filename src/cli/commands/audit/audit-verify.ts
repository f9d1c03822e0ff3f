/** uam audit verify: whether the audit log is as the service wrote it. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Verification } from "../../../domain/audit/verify.ts";
import { counted } from "../../../shared/text/counted.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";

interface VerifyInput {
  readonly head: string | undefined;
  readonly json: boolean;
}

/** The command below `uam audit`. */
export const auditVerifyCommand = command(
  "verify",
  map(
    object({
      head: optional(
        option("--head", string({ metavar: "NUMBER:SEAL" }), {
          description: message`A head from the service's log or mail: also shows whether records are missing at the end.`,
        }),
      ),
      json: option("--json", { description: message`Print one JSON object.` }),
    }),
    (input) => runVerify(input),
  ),
  {
    brief: message`Check that nobody has altered the audit log.`,
    description: message`Checks every record against its seal, and names the first that was altered, removed or inserted since the service wrote it. Exits 1 if there is one.`,
  },
);

function runVerify({ head, json }: VerifyInput): Command {
  return async (environment) => {
    const { describeHead, parseHead } = await import("../../../domain/audit/head.ts");
    const { verifyAudit } = await import("../../../domain/audit/verify.ts");
    const known = head === undefined ? undefined : parseHead(head);
    const { result, seconds } = await withServices(environment, "read", async (context) => {
      const began = performance.now();
      return { result: await verifyAudit(context, known), seconds: (performance.now() - began) / 1000 };
    });
    const newest = describeHead(result.head);
    environment.out(json ? `${JSON.stringify(toJson(result, newest, seconds))}\n` : toText(result, newest, seconds));
    return result.fault === undefined ? EXIT.done : EXIT.failed;
  };
}

function toJson({ fault, verified, start }: Verification, head: string, seconds: number): Record<string, unknown> {
  return {
    ok: fault === undefined,
    fault: fault ?? null,
    verified,
    removed_by_retention: start,
    head,
    seconds: Number(seconds.toFixed(3)),
  };
}

function toText({ fault, verified, start }: Verification, head: string, seconds: number): string {
  const speed = Math.round(verified / Math.max(seconds, 0.001));
  const lines = [`${counted(verified, "record")} verified (${speed} a second).`];
  if (start > 0) lines.push(`Retention removed the records up to ${start}.`);
  if (fault === undefined) lines.push(`Head: ${head}`);
  else lines.push(`FAULT at record ${fault.id} (${fault.kind}): ${fault.message}`);
  return `${lines.join("\n")}\n`;
}
