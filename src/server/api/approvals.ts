/** /approvals: anyone applies for access, administrators decide. */

import { Elysia } from "elysia";
import { ApplicationRecord, ApplicationReview, ApprovalQuery, NewApplication } from "../../contract/approvals.ts";
import { listApplications, reviewApplication, submitApplication } from "../../domain/approvals/approvals.ts";
import { applicationRecord } from "../records.ts";
import { anonymous, anonymousBody, jsonBody, requireSession } from "./elysia.ts";
import { created, data, IdParams, paged, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function approvalRoutes(web: Web) {
  return new Elysia({ prefix: "/approvals" }).use(applicantRoutes(web)).use(reviewRoutes(web));
}

function applicantRoutes(web: Web) {
  return new Elysia().use(anonymous(web, "application")).post(
    "/",
    async ({ context, body, status }) => {
      const application = await submitApplication(context, body);
      return status(201, { data: applicationRecord(application) });
    },
    {
      parse: anonymousBody(web, "application"),
      body: NewApplication,
      response: created(data(ApplicationRecord), 400, 429),
      detail: {
        operationId: "submitApplication",
        summary: "Apply for access",
        description:
          "The applicant gets a receipt by e-mail, and the administrators are told. At most 200 applications are pending at once. What is sent to one mailbox about applications is at most 3 mails a day, and of many with one address only some are kept; the answer is the same.",
      },
    },
  );
}

function reviewRoutes(web: Web) {
  return new Elysia()
    .use(requireSession(web, "admin", "reviewer"))
    .get(
      "/",
      async ({ context, query }) => {
        const page = { page: query.page, pageSize: query.page_size };
        const { total, items } = await listApplications(context, query, page);
        return { data: { total, items: items.map(applicationRecord) } };
      },
      {
        query: ApprovalQuery,
        response: responses(paged(ApplicationRecord), 400, 401, 403),
        detail: {
          operationId: "listApplications",
          summary: "List applications and requests for more time",
          description: "Newest first.",
        },
      },
    )
    .post(
      "/:id/review",
      async ({ context, params, body }) => {
        const { approve, reason, create_user: createUser, ttl_days: ttlDays } = body;
        const review = { approve, reason, createUser, ttlDays };
        return { data: applicationRecord(await reviewApplication(context, params.id, review)) };
      },
      {
        parse: jsonBody(web, "admin"),
        params: IdParams,
        body: ApplicationReview,
        response: responses(data(ApplicationRecord), 400, 401, 403, 404, 409),
        detail: {
          operationId: "reviewApplication",
          summary: "Approve or reject an application",
          description:
            "Approving creates the user, or extends the one who asks for more time; if that fails the application stays pending. The applicant gets the outcome by e-mail.",
        },
      },
    );
}
