/** /me: external users see and manage their own account. */

import type { me } from "../../../contract/me.ts";
import { statusAt } from "../../../domain/accounts/find-user.ts";
import { awaitHosts } from "../../../domain/hosts/confirmation.ts";
import { getOwnAccount } from "../../../domain/users/own-account.ts";
import { lockOwnAccount } from "../../../domain/users/own-lock.ts";
import { acceptTerms, readTerms } from "../../../domain/users/terms.ts";
import { hostsRecord, ownRecord, ownTermsRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";

export const meHandlers: Handlers<typeof me> = {
  "GET /me": async ({ context, session }) => {
    const account = await getOwnAccount(context, session.principal.id);
    return ownRecord(account, context.clock.now());
  },

  "GET /me/terms": async ({ context, session }) => {
    const terms = await readTerms(context, session.principal.id);
    return { ...ownTermsRecord(terms), text: terms.text };
  },

  "POST /me/terms": async ({ context, session, body }) =>
    ownTermsRecord(await acceptTerms(context, session.principal.id, body.version)),

  "POST /me/lock": async ({ context, session, reply }) => {
    const user = await lockOwnAccount(context, session.principal.id);
    reply.session(undefined);
    const isExpired = statusAt(user, context.clock.now()) === "expired";
    const known = hostsRecord(await awaitHosts(context, session.principal.id));
    return { status: isExpired ? "expired" : "disabled", ...known };
  },
};
