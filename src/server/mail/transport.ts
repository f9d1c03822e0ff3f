/** The transport that the configuration names. */

import type { Clock } from "../../shared/time/clock.ts";
import { createLogTransport } from "./log.ts";
import type { MailTransport } from "./mail.ts";
import { createResendTransport } from "./resend.ts";
import { createSmtpTransport } from "./smtp.ts";

export interface MailSettings {
  readonly smtpUrl: string | undefined;
  readonly resendApiKey: string | undefined;
  readonly resendBaseUrl: string | undefined;
  readonly mailFrom: string | undefined;
  readonly mailLog: string;
}

/** SMTP or Resend if one is set, else the log. Throws `invalid` for an SMTP URL that cannot be used. */
export function createTransport(settings: MailSettings, clock: Clock): MailTransport {
  const { smtpUrl, resendApiKey, resendBaseUrl, mailFrom = "", mailLog } = settings;
  if (smtpUrl !== undefined) return createSmtpTransport({ url: smtpUrl, from: mailFrom });
  if (resendApiKey !== undefined) {
    return createResendTransport({ apiKey: resendApiKey, from: mailFrom, baseUrl: resendBaseUrl?.replace(/\/+$/, "") });
  }
  return createLogTransport({ path: mailLog, clock });
}
