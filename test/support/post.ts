/** A mail transport that keeps what it is given, and can be told to fail. */

import type { MailMessage, MailTransport, SendResult } from "../../src/server/mail/mail.ts";

export interface TestPost extends MailTransport {
  /** What was taken, in order. */
  readonly sent: (MailMessage & { readonly key: string })[];
  /** Decides what becomes of a message; all are taken until it is replaced. */
  answer: (message: MailMessage) => SendResult | Promise<SendResult>;
}

export function createTestPost(): TestPost {
  const sent: TestPost["sent"] = [];
  const post: TestPost = {
    sent,
    answer: () => ({ kind: "sent" }),
    async send(message, key) {
      const result = await post.answer(message);
      if (result.kind === "sent") sent.push({ ...message, key });
      return result;
    },
    async verify() {},
    async close() {},
  };
  return post;
}
