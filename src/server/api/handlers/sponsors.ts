/** /sponsors: who answers for users. /decisions: what they are asked by a link in a mail. */

import type { sponsors } from "../../../contract/sponsors/sponsors.ts";
import { decide, lookAt } from "../../../domain/decisions/decisions.ts";
import { moveSponsor, previewMove } from "../../../domain/sponsors/moving.ts";
import { listSponsors } from "../../../domain/sponsors/sponsors.ts";
import { parseTimestamp } from "../../../shared/time/timestamp.ts";
import { decidedRecord, movePreviewRecord, questionRecord, sponsorRecord } from "../../sponsor-records.ts";
import type { Handlers } from "../http/call.ts";
import { isPreview } from "../http/request.ts";

export const sponsorHandlers: Handlers<typeof sponsors> = {
  "POST /decisions/look": async ({ context, body }) => questionRecord(await lookAt(context, body.token)),

  "POST /decisions": async ({ context, body }) => {
    const answers = body.answers.map(({ until, ...answer }) => ({
      ...answer,
      ...(until === undefined ? {} : { until: parseTimestamp(until, "until") }),
    }));
    return decidedRecord(await decide(context, body.token, answers));
  },

  "GET /sponsors": async ({ context, query }) => {
    const { total, items } = await listSponsors(context, query.page);
    return { total, items: items.map(sponsorRecord) };
  },

  "POST /sponsors/move": async ({ context, query, body }) =>
    isPreview(query)
      ? movePreviewRecord(await previewMove(context, body))
      : { moved: await moveSponsor(context, body) },
};
