/** A mail transport that keeps its messages, and can be made to fail. */

import type { MailMessage, MailTransport, SendResult } from "../../src/server/mail/mail.ts";

export interface TestPost extends MailTransport {
  /** The accepted messages, in order. */
  readonly sent: (MailMessage & { readonly key: string })[];
  /** Decides the fate of a message; all are accepted until this is replaced. */
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
