/** A mail, and the transport that carries it. */

import { blankControlCharacters, hasControlCharacters } from "../../shared/text/text.ts";
import { SECOND } from "../../shared/time/clock.ts";

export interface MailMessage {
  /** One bare address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * `retry`: not sent as far as is known, and nothing is wrong with the message itself. `reject`: it will never be accepted as it is.
 * `reason` is one line for the log; it holds no credentials and nothing of the message's text.
 */
export type SendResult =
  /** `answer`: what the server said, one line without credentials; absent where there is no server. */
  | { readonly kind: "sent"; readonly answer?: string }
  | { readonly kind: "retry"; readonly reason: string }
  | { readonly kind: "reject"; readonly reason: string };

export interface MailTransport {
  /**
   * Hands over one message and never throws. The same `idempotencyKey` makes the same Message-ID or is passed to the provider, so that
   * a message sent twice can be recognised as one.
   */
  send(message: MailMessage, idempotencyKey: string): Promise<SendResult>;
  /** Throws `internal`, saying what is wrong, unless mail could be handed over now; sends nothing. */
  verify(): Promise<void>;
  /** Releases connections and files; a transport that was closed sends nothing more. */
  close(): Promise<void>;
}

export const CONNECT_TIMEOUT = 10 * SECOND;
export const SEND_TIMEOUT = 30 * SECOND;

const ADDRESS = /^[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/u;

/** Why a message may not be sent at all (an address or subject that would end its header line), or undefined if it may. */
export function faultOf(message: MailMessage): string | undefined {
  const isAddress = ADDRESS.test(message.to) && !hasControlCharacters(message.to) && message.to.length <= 254;
  if (!isAddress) return "The recipient is not one plain e-mail address";
  if (hasControlCharacters(message.subject)) return "The subject contains a line break or another control character";
  return undefined;
}

/** The message of a server or library, as one line of at most 300 characters. A server may repeat the secrets that it was sent: they are hidden. */
export function oneLine(text: string, secrets: readonly string[] = []): string {
  const line = blankControlCharacters(conceal(text, secrets)).replace(/\s+/g, " ").trim();
  // Once more, because a secret may have blanks; and before the end is cut off, which would leave a part of one.
  return conceal(line, secrets).slice(0, 300);
}

/** The text with the secrets hidden, also in base64, in which SMTP passes them (RFC 4954). */
function conceal(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret !== "").flatMap((secret) => [secret, inBase64(secret)]);
  return forms.reduce((left, form) => left.replaceAll(form, "(hidden)"), text);
}

function inBase64(text: string): string {
  return Buffer.from(text).toString("base64").replace(/=+$/, "");
}

/** The promise's result, or an error if it takes longer than that many milliseconds; the work itself is not stopped. */
export function withDeadline<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`The mail server did not finish within ${milliseconds / 1000} seconds`));
    const timer = setTimeout(late, milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
