/** /tokens: credentials for machines. */

import * as v from "valibot";
import { MAX_NETWORKS } from "../shared/net/networks.ts";
import { ADMIN_ROLES, TOKEN_STATUSES } from "../shared/product/statuses.ts";
import { MAX_TOKEN_DAYS, MAX_TOKEN_NAME } from "../shared/product/token-limits.ts";
import { CONFIRMED, CONFIRMING, confirmation, NOT_CONFIRMED } from "./confirmation.ts";
import { described, expiry, IdParams, id, listOf, PageQuery, pageOf, text, timestamp, wholeNumber } from "./fields.ts";
import { admins, type Routes } from "./route.ts";

/** It looks like one, and its checksum is wrong. */
const EXAMPLE = `uam_${"0123456789".repeat(4)}abc000000`;

const role = v.picklist(ADMIN_ROLES);
const network = "192.0.2.0/24";

const fields = {
  id,
  name: described("nightly report"),
  role: v.pipe(role, v.description("At each request the lesser of this and its owner's role counts")),
  prefix: described("uam_01234567", "The beginning of the token, to recognise it by"),
  owner: described("root-admin", "The administrator for whom it acts"),
  made_by: v.pipe(v.nullable(id), v.description("The token that made it, with which it ends; null where a person did")),
  networks: v.pipe(v.array(described(network)), v.description("From where it may be used; none means from anywhere")),
  created_at: timestamp,
  expires_at: expiry,
  last_used_at: v.pipe(v.nullable(timestamp), v.description("To the minute")),
  last_used_from: described("192.0.2.1", "Empty before the first use"),
  revoked_at: v.nullable(timestamp),
  status: v.picklist(TOKEN_STATUSES),
};

export const TokenRecord = v.pipe(v.object(fields), v.title("Token"));

export const MadeToken = v.pipe(
  v.object({ ...fields, token: described(EXAMPLE, "Shown here and never again: only its hash is stored") }),
  v.title("MadeToken"),
);

export const NewToken = v.pipe(
  v.object({
    name: text("nightly report", "Its purpose; records name it as the actor", {
      minLength: 1,
      maxLength: MAX_TOKEN_NAME,
    }),
    role: v.pipe(role, v.description("Within one's own")),
    days: wholeNumber(1, MAX_TOKEN_DAYS, "Days until it ends"),
    networks: v.optional(
      listOf(
        text(network),
        MAX_NETWORKS,
        `From where it may be used, as CIDRs (a single address is a network of its own), at most ${MAX_NETWORKS}; none means from anywhere`,
      ),
    ),
    ...confirmation,
  }),
  v.title("NewToken"),
);

export const tokens = {
  "GET /tokens": {
    operationId: "listTokens",
    summary: "List tokens for machines",
    description:
      "One's own, and for an owner everybody's; newest first. Ended and revoked ones stay listed for a year.",
    who: admins,
    query: PageQuery,
    answer: pageOf(TokenRecord),
  },
  "POST /tokens": {
    operationId: "createToken",
    summary: "Make a token for a machine",
    description: `It acts for who makes it, who is mailed that there is one. ${CONFIRMED} A token may make others of at most its role, for its owner and from its networks, without that; they end when it does, at the latest.`,
    who: admins,
    records: "token.create",
    body: NewToken,
    status: 201,
    answer: MadeToken,
    refusals: { ...CONFIRMING, 409: "As many tokens as an administrator may have are in use" },
    reasons: [
      ...NOT_CONFIRMED,
      "token.limit",
      "token.made",
      "token.not_allowed",
      "role.insufficient",
      "network.invalid",
    ],
  },
  "DELETE /tokens/:id": {
    operationId: "revokeToken",
    summary: "Revoke a token",
    description:
      "One's own, and for an owner anybody's. It is refused from the next request on, and so is what it made; they stay listed.",
    who: admins,
    params: IdParams,
    answer: TokenRecord,
    refusals: { 404: true },
    reasons: ["token.missing", "role.insufficient"],
  },
} as const satisfies Routes;
