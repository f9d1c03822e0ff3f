/** /healthz: whether the service answers. */

import { Elysia } from "elysia";
import * as v from "valibot";
import { formatTimestamp } from "../../shared/timestamp.ts";
import { data, described, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

const Health = v.pipe(
  v.object({
    status: v.literal("ok"),
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

export function healthRoutes(web: Web) {
  return new Elysia().get(
    "/healthz",
    () => {
      const now = web.services.clock.now();
      const uptime = Math.max(0, Math.floor((now.getTime() - web.startedAt.getTime()) / 1000));
      const { version, runtime } = web.options;
      return { data: { status: "ok" as const, version, uptime, go: runtime, timestamp: formatTimestamp(now) } };
    },
    {
      response: responses(data(Health)),
      detail: {
        operationId: "getHealth",
        summary: "Whether the service answers",
        description: "Says nothing of the database; it answers as long as the service runs.",
      },
    },
  );
}
