/** /healthz: whether the process is running. /readyz: whether it is ready for requests. */

import { Elysia } from "elysia";
import * as v from "valibot";
import { formatTimestamp } from "../../shared/timestamp.ts";
import { HttpRefusal } from "./errors.ts";
import { data, described, responses, statusOf } from "./schemas.ts";
import type { Phase, Web } from "./web.ts";

const Health = v.pipe(
  v.object({
    status: v.pipe(
      v.picklist(["ok", "degraded"]),
      v.description("`degraded` while the database does not answer; nearly every other request fails then"),
    ),
    version: described("1.0.0"),
    uptime: v.pipe(
      v.number(),
      v.integer(),
      v.metadata({ description: "Whole seconds since the service started", examples: [86400] }),
    ),
    go: described("bun 1.4.4", "Runtime and its version"),
    timestamp: described("2026-11-20T08:00:00.000Z", "UTC, RFC 3339", { format: "date-time" }),
  }),
  v.title("Health"),
);

const NOT_READY: Readonly<Record<Exclude<Phase, "serving">, string>> = {
  starting: "The service is starting",
  stopping: "The service is stopping",
};

export function healthRoutes(web: Web) {
  return new Elysia()
    .get(
      "/healthz",
      async () => {
        const status = (await web.databaseAnswers()) ? ("ok" as const) : ("degraded" as const);
        const now = web.services.clock.now();
        const uptime = Math.max(0, Math.floor((now.getTime() - web.startedAt.getTime()) / 1000));
        const { version, runtime } = web.options;
        return { data: { status, version, uptime, go: runtime, timestamp: formatTimestamp(now) } };
      },
      {
        response: responses(data(Health)),
        detail: {
          operationId: "getHealth",
          summary: "Whether the process is running",
          description: "For liveness checks: always 200, with or without the database.",
        },
      },
    )
    .get(
      "/readyz",
      async () => {
        const phase = web.phase();
        if (phase !== "serving") throw new HttpRefusal(503, NOT_READY[phase]);
        if (!(await web.databaseAnswers())) throw new HttpRefusal(503, "The database does not answer");
        return { data: { status: "ok" as const } };
      },
      {
        response: responses(statusOf("ok"), 503),
        detail: {
          operationId: "getReadiness",
          summary: "Whether the service is ready for requests",
          description:
            "For a load balancer: 503 while the service starts or stops, or while the database does not answer.",
        },
      },
    );
}
