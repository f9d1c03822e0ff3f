/** /admin/stats: the figures of the dashboard. */

import { Elysia } from "elysia";
import { SeriesQuery, SeriesRecord, StatsRecord } from "../../contract/stats.ts";
import { readSeries } from "../../domain/stats/series.ts";
import { readStats } from "../../domain/stats/stats.ts";
import { seriesRecord, statsRecord } from "../records.ts";
import { requireSession } from "./elysia.ts";
import { data, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function statsRoutes(web: Web) {
  return new Elysia({ prefix: "/admin" })
    .use(requireSession(web, "admin", "reviewer"))
    .get("/stats", async ({ context }) => ({ data: statsRecord(await readStats(context)) }), {
      response: responses(data(StatsRecord), 401, 403),
      detail: {
        operationId: "getStats",
        summary: "Counts of users and applications, and who expires soon",
        description: "All figures describe one moment.",
      },
    })
    .get(
      "/stats/series",
      async ({ context, query }) => ({ data: seriesRecord(await readSeries(context, query.days)) }),
      {
        query: SeriesQuery,
        response: responses(data(SeriesRecord), 400, 401, 403),
        detail: {
          operationId: "getStatsSeries",
          summary: "Users by state, endings and changes by day",
          description:
            "Days are UTC. `states` and `changes` are of the past days until today, oldest first, without the days of which nothing is known; `ends` are of today and the days to come.",
        },
      },
    );
}
