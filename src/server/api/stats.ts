/** /admin/stats: the figures of the dashboard. */

import { Elysia } from "elysia";
import { readStats } from "../../domain/stats/stats.ts";
import { statsRecord } from "../records.ts";
import { requireSession } from "./elysia.ts";
import { StatsRecord } from "./schemas/settings.ts";
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
    });
}
