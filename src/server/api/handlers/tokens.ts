/** /tokens: tokens that machines log in with. */

import type { tokens } from "../../../contract/tokens.ts";
import { createOwnToken, pageTokens, revokeToken } from "../../../domain/auth/tokens/tokens.ts";
import { tokenRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";

export const tokenHandlers: Handlers<typeof tokens> = {
  "GET /tokens": async ({ context, session, query }) => {
    const { total, items } = await pageTokens(context, session.principal, query.page);
    return { total, items: items.map(tokenRecord) };
  },

  "POST /tokens": async ({ context, session, body }) => {
    const { networks = [], password, passkey, ...wanted } = body;
    const made = await createOwnToken(context, session, { ...wanted, networks }, { password, passkey });
    return { ...tokenRecord(made.entry), token: made.token };
  },

  "DELETE /tokens/:id": async ({ context, session, params }) =>
    tokenRecord(await revokeToken(context, session.principal, params.id)),
};
