/** Mail by SMTP: `smtp://user:password@host:587` (STARTTLS) or `smtps://user:password@host:465` (TLS from the start). */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Transporter } from "nodemailer";
import type SMTPPool from "nodemailer/lib/smtp-pool";
import { UamError } from "../../shared/errors.ts";
import { CONNECT_TIMEOUT, faultOf, type MailTransport, oneLine, SEND_TIMEOUT, withDeadline } from "./mail.ts";

export interface SmtpSettings {
  /**
   * `?tls=required` (default): a certificate for that host from a known authority, by STARTTLS with `smtp:`. `?tls=optional` (default
   * on loopback): STARTTLS if offered, any certificate. `?tls=none`: never. `?ca=/path.pem`: trust these authorities only.
   */
  readonly url: string;
  /** `Name <address>` or a bare address. */
  readonly from: string;
  /** Milliseconds until a send or check is given up; half a minute if left out. The server may still deliver it afterwards. */
  readonly timeout?: number;
}

/** A pool of at most two connections, opened when needed. Throws `invalid`, naming the fault, if the URL cannot be used. */
export function createSmtpTransport({ url, from, timeout = SEND_TIMEOUT }: SmtpSettings): MailTransport {
  const options = { ...optionsOf(url), socketTimeout: timeout, disableFileAccess: true, disableUrlAccess: true };
  let opened: Promise<Transporter<SMTPPool.SentMessageInfo>> | undefined;
  // Loaded for the first mail: a service that has none to send starts sooner, and is smaller.
  const transporter = () => {
    opened ??= import("nodemailer").then(({ createTransport }) => createTransport(options, { from }));
    return opened;
  };
  const secrets = secretsOf(options.auth);
  const domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? "localhost";
  return {
    async send(message, idempotencyKey) {
      const fault = faultOf(message);
      if (fault !== undefined) return { kind: "reject", reason: fault };
      const { to, subject, text, html } = message;
      // RFC 3834: keeps out-of-office replies from answering.
      const headers = { "Auto-Submitted": "auto-generated" };
      const messageId = `<${createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 40)}@${domain}>`;
      try {
        const mail = { to: { name: "", address: to }, subject, text, html, headers, messageId };
        const { response } = await withDeadline((await transporter()).sendMail(mail), timeout);
        return { kind: "sent", answer: oneLine(response, secrets) };
      } catch (error) {
        return { kind: isFinal(error) ? "reject" : "retry", reason: reasonOf(error, secrets) };
      }
    },
    async verify() {
      try {
        await withDeadline((await transporter()).verify(), timeout);
      } catch (cause) {
        throw new UamError("internal", `The mail server cannot be used: ${reasonOf(cause, secrets)}`, { cause });
      }
    },
    async close() {
      (await opened)?.close();
    },
  };
}

function optionsOf(text: string): SMTPPool.Options {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["smtp:", "smtps:"].includes(url.protocol) || url.hostname === "") {
    throw new UamError(
      "invalid",
      "The SMTP URL must look like smtp://user:password@host:587 or smtps://user:password@host:465",
    );
  }
  const unknown = [...url.searchParams.keys()].find((name) => name !== "tls" && name !== "ca");
  if (unknown !== undefined)
    throw new UamError("invalid", `The SMTP URL has an unknown parameter "${unknown}"; tls and ca are known`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const secure = url.protocol === "smtps:";
  const ca = url.searchParams.get("ca");
  const mode = url.searchParams.get("tls") ?? (isLoopback(host) ? "optional" : "required");
  if (secure && mode === "none")
    throw new UamError("invalid", "The SMTP URL has tls=none, but smtps: is TLS from the start; use smtp:");
  return {
    pool: true,
    maxConnections: 2,
    // A kept connection that the server has since closed costs one more attempt; the outbox does the others.
    maxRequeues: 1,
    host,
    port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
    secure,
    ...tlsOf(mode, ca === null ? undefined : readCa(ca)),
    ...(url.username === "" ? {} : { auth: { user: decode(url.username), pass: decode(url.password) } }),
    connectionTimeout: CONNECT_TIMEOUT,
    greetingTimeout: CONNECT_TIMEOUT,
    dnsTimeout: CONNECT_TIMEOUT,
  };
}

function tlsOf(mode: string, ca: string | undefined): SMTPPool.Options {
  const trust = ca === undefined ? {} : { ca };
  switch (mode) {
    case "required":
      return { requireTLS: true, tls: { minVersion: "TLSv1.2", ...trust } };
    case "optional":
      return { tls: { rejectUnauthorized: false } };
    case "none":
      return { ignoreTLS: true };
    default:
      throw new UamError("invalid", `The SMTP URL has tls=${mode}; it must be required, optional or none`);
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function readCa(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new UamError("invalid", `The certificate file ${path} that the SMTP URL names cannot be read`, { cause });
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new UamError("invalid", "The SMTP URL's user or password has a % that is not followed by two hex digits", {
      cause,
    });
  }
}

/** The server's refusal of this sender, recipient or text is final; everything else (no server, no login, 4xx) may pass. */
function isFinal(error: unknown): boolean {
  const { code, responseCode = 0 } = detailsOf(error);
  // 530 to 538 are about logging in (RFC 4954), 421 to 459 and the like are temporary.
  return (
    (code === "EENVELOPE" || code === "EMESSAGE") &&
    responseCode >= 500 &&
    !(responseCode >= 530 && responseCode <= 538)
  );
}

function reasonOf(error: unknown, secrets: readonly string[]): string {
  return oneLine(error instanceof Error ? error.message : String(error), secrets);
}

/** The password, alone and as AUTH PLAIN passes it. */
function secretsOf(auth: { readonly user?: string; readonly pass?: string } | undefined): readonly string[] {
  const { user = "", pass = "" } = auth ?? {};
  return pass === "" ? [] : [`\0${user}\0${pass}`, pass];
}

function detailsOf(error: unknown): { readonly code?: string; readonly responseCode?: number } {
  return typeof error === "object" && error !== null ? error : {};
}
