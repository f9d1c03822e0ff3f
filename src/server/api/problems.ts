/** /admin/problems: what is left to do on the host. */

import { Elysia } from "elysia";
import { pageClosings } from "../../domain/accounts/closings.ts";
import { problemRecord } from "../records.ts";
import { requireSession } from "./elysia.ts";
import { ProblemRecord } from "./schemas/problems.ts";
import { PageQuery, paged, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function problemRoutes(web: Web) {
  return new Elysia({ prefix: "/admin" }).use(requireSession(web, "admin", "any")).get(
    "/problems",
    async ({ context, query }) => {
      const { total, items } = await pageClosings(context, { page: query.page, pageSize: query.page_size });
      return { data: { total, items: items.map(problemRecord) } };
    },
    {
      query: PageQuery,
      response: responses(paged(ProblemRecord), 400, 401, 403),
      detail: {
        operationId: "listProblems",
        summary: "Access that is still to be taken away",
        description:
          "What `uam doctor` reports of it, oldest first: nothing opens these accounts, and the service tries again by itself. Empty when all is well.",
      },
    },
  );
}
