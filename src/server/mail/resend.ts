/** Mail through the HTTP API of Resend, or of a compatible service. */

import type { ErrorResponse, Resend } from "resend";
import { UamError } from "../../shared/errors.ts";
import { faultOf, type MailTransport, oneLine, SEND_TIMEOUT, type SendResult, withDeadline } from "./mail.ts";

export interface ResendSettings {
  readonly apiKey: string;
  /** `Name <address>` or a bare address, of a domain that the account has verified. */
  readonly from: string;
  /** Where the API is, without a trailing slash; Resend's own if left out. */
  readonly baseUrl?: string | undefined;
  /** Milliseconds until a request is given up; half a minute if left out. */
  readonly timeout?: number;
}

/** A transport whose requests end in time. The library is loaded with the first message. */
export function createResendTransport({
  apiKey,
  from,
  baseUrl,
  timeout = SEND_TIMEOUT,
}: ResendSettings): MailTransport {
  const line = (text: string) => oneLine(text, [apiKey]);
  let client: Promise<Resend> | undefined;
  const connect = (): Promise<Resend> => {
    client ??= import("resend").then((library) => new library.Resend(apiKey, baseUrl === undefined ? {} : { baseUrl }));
    return client;
  };
  return {
    async send(message, idempotencyKey) {
      const fault = faultOf(message);
      if (fault !== undefined) return { kind: "reject", reason: fault };
      const { to, subject, text, html } = message;
      const payload = { from, to, subject, text, html, headers: { "Auto-Submitted": "auto-generated" } };
      try {
        const { emails } = await connect();
        const { data, error } = await emails.send(payload, { idempotencyKey, signal: AbortSignal.timeout(timeout) });
        return error ? classify(error, line) : { kind: "sent", answer: line(`the id ${data.id}`) };
      } catch (error) {
        return { kind: "retry", reason: line(`Resend could not be reached: ${String(error)}`) };
      }
    },
    async verify() {
      const { domains } = await connect();
      const { error } = await withDeadline(domains.list(), timeout).catch((cause) => {
        throw new UamError("internal", `Resend cannot be used: ${line(String(cause))}`, { cause });
      });
      // A key that may only send cannot list domains, and is the better choice.
      if (error && error.name !== "restricted_api_key")
        throw new UamError("internal", `Resend cannot be used: ${line(error.message)}`);
    },
    async close() {
      client = undefined;
    },
  };
}

/** These errors will be the same next time; keys, quotas, domains and outages are fixed without a change to the message. */
const FINAL: readonly string[] = [
  "missing_required_field",
  "invalid_parameter",
  "invalid_attachment",
  "invalid_idempotent_request",
  "invalid_idempotency_key",
];

function classify({ name, message, statusCode }: ErrorResponse, line: (text: string) => string): SendResult {
  const reason = line(`Resend answered ${statusCode ?? "nothing"}: ${name}: ${message}`);
  // validation_error is 422 or 400 for the message, 403 for a domain that is not verified yet.
  const final = FINAL.includes(name) || (name === "validation_error" && (statusCode === 400 || statusCode === 422));
  return { kind: final ? "reject" : "retry", reason };
}
