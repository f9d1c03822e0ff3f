/** /admin: the dashboard's figures, and what is left to do on the hosts. */

import type { dashboard } from "../../../contract/dashboard.ts";
import { pageClosings } from "../../../domain/accounts/closings.ts";
import { longAway } from "../../../domain/events/receivers.ts";
import { pageHostProblems } from "../../../domain/hosts/problems.ts";
import { readAttention } from "../../../domain/stats/attention.ts";
import { readSeries } from "../../../domain/stats/series.ts";
import { readStats } from "../../../domain/stats/stats.ts";
import { attentionRecord } from "../../attention-record.ts";
import { awayRecord } from "../../event-records.ts";
import { hostProblemRecord } from "../../fleet-records.ts";
import { problemRecord, seriesRecord, statsRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";

export const dashboardHandlers: Handlers<typeof dashboard> = {
  "GET /admin/stats": async ({ context }) => statsRecord(await readStats(context)),

  "GET /admin/stats/series": async ({ context, query }) => seriesRecord(await readSeries(context, query.days)),

  "GET /admin/attention": async ({ web, context }) => attentionRecord(await readAttention(context, web.startedAt)),

  "GET /admin/problems": async ({ web, context, query }) => {
    const { total, items } = await pageClosings(context, query.page);
    const hosts = await pageHostProblems(context, query.page, web.startedAt);
    const away = await longAway(context);
    const found = { total, items: items.map(problemRecord), receivers: away.map(awayRecord) };
    if (hosts === undefined) return found;
    return { ...found, hosts: { total: hosts.total, items: hosts.items.map(hostProblemRecord) } };
  },
};
