/** /admin/problems: what is left to do on the host. */

import { Elysia } from "elysia";
import { pageClosings } from "../../domain/accounts/closings.ts";
import { longAway } from "../../domain/events/receivers.ts";
import { awayRecord, problemRecord } from "../records.ts";
import { requireSession } from "./elysia.ts";
import { ProblemList } from "./schemas/problems.ts";
import { data, PageQuery, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function problemRoutes(web: Web) {
  return new Elysia({ prefix: "/admin" }).use(requireSession(web, "admin", "any")).get(
    "/problems",
    async ({ context, query }) => {
      const { total, items } = await pageClosings(context, { page: query.page, pageSize: query.page_size });
      const away = await longAway(context);
      return { data: { total, items: items.map(problemRecord), receivers: away.map(awayRecord) } };
    },
    {
      query: PageQuery,
      response: responses(data(ProblemList), 400, 401, 403),
      detail: {
        operationId: "listProblems",
        summary: "Access that is still to be taken away, and receivers that are away",
        description:
          "What `uam doctor` reports of it, oldest first: nothing opens these accounts, and the service tries again by itself. Besides, in `receivers`: webhooks, and the stream of audit records, that have taken nothing for an hour. Empty when all is well.",
      },
    },
  );
}
