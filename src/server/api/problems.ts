/** /admin/problems: what is left to do on the host. */

import { Elysia } from "elysia";
import { ProblemPage } from "../../contract/problems.ts";
import { pageClosings } from "../../domain/accounts/closings.ts";
import { longAway } from "../../domain/events/receivers.ts";
import { pageHostProblems } from "../../domain/fleet/problems.ts";
import { awayRecord } from "../event-records.ts";
import { hostProblemRecord } from "../fleet-records.ts";
import { problemRecord } from "../records.ts";
import { requireSession } from "./elysia.ts";
import { data, PageQuery, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function problemRoutes(web: Web) {
  return new Elysia({ prefix: "/admin" }).use(requireSession(web, "admin", "any")).get(
    "/problems",
    async ({ context, query }) => {
      const page = { page: query.page, pageSize: query.page_size };
      const { total, items } = await pageClosings(context, page);
      const hosts = await pageHostProblems(context, page, web.startedAt);
      const away = await longAway(context);
      const found = { total, items: items.map(problemRecord), receivers: away.map(awayRecord) };
      if (hosts === undefined) return { data: found };
      return { data: { ...found, hosts: { total: hosts.total, items: hosts.items.map(hostProblemRecord) } } };
    },
    {
      query: PageQuery,
      response: responses(data(ProblemPage), 400, 401, 403),
      detail: {
        operationId: "listProblems",
        summary: "Access that is still to be taken away, and receivers that are away",
        description:
          "What `uam doctor` reports of it, oldest first: nothing opens these accounts, and the service tries again by itself. Besides, in `receivers`: webhooks, and the stream of audit records, that have taken nothing for an hour. Where there are further hosts, `hosts` has what is wrong with them, by the same page. Empty when all is well.",
      },
    },
  );
}
