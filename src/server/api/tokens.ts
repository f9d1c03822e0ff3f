/** /tokens: what machines log in with. */

import { Elysia } from "elysia";
import { MadeToken, NewToken, TokenRecord } from "../../contract/tokens.ts";
import { createOwnToken, pageTokens, revokeToken } from "../../domain/auth/tokens.ts";
import { tokenRecord } from "../records.ts";
import { CONFIRMED, confirming } from "./confirming.ts";
import { jsonBody, requireSession } from "./elysia.ts";
import { created, data, IdParams, PageQuery, paged, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function tokenRoutes(web: Web) {
  return new Elysia({ prefix: "/tokens" })
    .use(requireSession(web, "admin", "any"))
    .get(
      "/",
      async ({ context, session, query }) => {
        const page = { page: query.page, pageSize: query.page_size };
        const { total, items } = await pageTokens(context, session.principal, page);
        return { data: { total, items: items.map(tokenRecord) } };
      },
      {
        query: PageQuery,
        response: responses(paged(TokenRecord), 400, 401, 403),
        detail: {
          operationId: "listTokens",
          summary: "List tokens for machines",
          description:
            "One's own, and for an owner everybody's; newest first. Ended and revoked ones stay listed for a year.",
        },
      },
    )
    .post(
      "/",
      async ({ context, session, body, status }) => {
        const { networks = [], password, passkey, ...wanted } = body;
        const made = createOwnToken(context, session, { ...wanted, networks }, { password, passkey });
        const { entry, token } = await made;
        return status(201, { data: { ...tokenRecord(entry), token } });
      },
      {
        parse: jsonBody(web, "admin"),
        body: NewToken,
        response: created(data(MadeToken), 400, 401, 403, 409, 429),
        detail: {
          operationId: "createToken",
          summary: "Make a token for a machine",
          description: `It acts for who makes it, who is mailed that there is one. ${CONFIRMED} A token may make others of at most its role, for its owner and from its networks, without that; they end when it does, at the latest.`,
          responses: { ...confirming, 409: { description: "As many tokens as an administrator may have are in use" } },
        },
      },
    )
    .delete(
      "/:id",
      async ({ context, session, params }) => ({
        data: tokenRecord(await revokeToken(context, session.principal, params.id)),
      }),
      {
        params: IdParams,
        response: responses(data(TokenRecord), 400, 401, 403, 404),
        detail: {
          operationId: "revokeToken",
          summary: "Revoke a token",
          description:
            "One's own, and for an owner anybody's. It is refused from the next request on, and so is what it made; they stay listed.",
        },
      },
    );
}
