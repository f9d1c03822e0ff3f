/** /me: external users see and manage their own account. */

import type { me } from "../../../contract/me.ts";
import { accessAt, openingsBetween } from "../../../domain/accounts/access-state.ts";
import { requireUser, statusAt } from "../../../domain/accounts/find-user.ts";
import { awaitHosts } from "../../../domain/hosts/confirmation.ts";
import { openOn } from "../../../domain/requests/askable.ts";
import { getOwnAccount } from "../../../domain/users/own-account.ts";
import { lockOwnAccount } from "../../../domain/users/own-lock.ts";
import { acceptTerms, readTerms } from "../../../domain/users/terms.ts";
import { calendarFile } from "../../../shared/hours/calendar-file.ts";
import { hostAccountOf } from "../../../shared/text/account-name.ts";
import { DAY, shift } from "../../../shared/time/clock.ts";
import { hostsRecord, ownRecord, ownTermsRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";

/** How far the calendar goes. */
const AHEAD = 60 * DAY;

export const meHandlers: Handlers<typeof me> = {
  "GET /me": async ({ context, session }) => {
    const account = await getOwnAccount(context, session.principal.id);
    const now = context.clock.now();
    return ownRecord(
      account,
      now,
      account.user.requestRule === null ? [] : await openOn(context.db, account.user, now),
    );
  },

  "GET /me/hours.ics": async ({ context, request, session }) => {
    const user = await requireUser(context.db, session.principal.id);
    const now = context.clock.now();
    const spans = accessAt(user, now).access === "closed" ? [] : openingsBetween(user, now, shift(now, AHEAD));
    const { host } = context.policy.site;
    const of = `${user.username}@${host}`;
    const file = calendarFile({ summary: `SSH: ${hostAccountOf(user.username)}@${host}`, spans, of, now });
    return new Response(request.method === "HEAD" ? null : file, {
      headers: {
        "content-type": "text/calendar; charset=utf-8",
        "content-disposition": 'attachment; filename="hours.ics"',
      },
    });
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
