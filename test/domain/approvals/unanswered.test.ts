/** What nobody answers: requests for access end, and sponsors are not asked about applicants for ever. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { requestAccess } from "../../../src/domain/approvals/access-requests.ts";
import { listApplications, reviewApplication, submitApplication } from "../../../src/domain/approvals/approvals.ts";
import { endUnanswered } from "../../../src/domain/approvals/unanswered.ts";
import { decide, lookAt } from "../../../src/domain/decisions/decisions.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { beat, endHold } from "../../../src/domain/lifecycle/heartbeat.ts";
import { askWaitingSponsors } from "../../../src/domain/sponsors/asking.ts";
import { moveSponsor } from "../../../src/domain/sponsors/moving.ts";
import { createUser, deleteUser } from "../../../src/domain/users/users.ts";
import type { RequestRule } from "../../../src/shared/product/statuses.ts";
import { DAY, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { approvals, outbox } from "../../../src/store/schema.ts";
import { questions } from "../../../src/store/schema-auth.ts";
import { createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

const BO = "bo@example.org";
let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  for (const table of [approvals, outbox, questions]) await app.db.delete(table);
});

/** Somebody who asks for two hours. */
async function ask(rule: RequestRule) {
  const name = `asker-${++count}`;
  const sponsorEmail = rule === "sponsor" ? BO : undefined;
  const input = { username: name, email: `${name}@example.org`, onRequest: { rule, maxHours: 4 }, sponsorEmail };
  const { id } = await createUser(app.system, input);
  await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
  const context = { ...app.system, actor: { type: "user", name, ip: "192.0.2.7" } as const };
  const { request } = await requestAccess(context, { userId: id, token: "" }, { hours: 2, reason: "Deploy" });
  if (request === undefined) throw new Error("it waits for nobody");
  return { id, name, request: request.id };
}

/** The minute's job after that time, beyond doubt of the clock. */
async function pass(time: number): Promise<void> {
  app.clock.advance(time);
  await endUnanswered(app.services, await endHold(app.services));
}
const stored = async (id: number) => (await app.db.select().from(approvals).where(eq(approvals.id, id)))[0];
const subjects = async (name: string) => (await app.mails(`${name}@example.org`)).map(({ subject }) => subject);
const link = async () => /decide#([\w-]{43})/.exec((await app.mails(BO)).at(-1)?.text ?? "")?.[1] ?? "";

describe("endUnanswered()", () => {
  test("ends a request after seven days, on record, with a mail to whoever asked, and not before", async () => {
    const { id, name, request } = await ask("review");
    await pass(7 * DAY - SECOND);
    expect(await stored(request)).toMatchObject({ status: "pending" });
    await pass(SECOND);
    const reason = "Nobody answered in time";
    expect(await stored(request)).toMatchObject({ status: "rejected", reason, reviewedBy: "system" });
    expect(await app.lastAudit("access.refuse")).toMatchObject({
      ...{ result: "success", actorType: "system", subjectId: id },
      detail: { username: name, application: request, reason },
    });
    expect((await subjects(name)).filter((one) => one.startsWith("Nobody answered your request"))).toHaveLength(1);
    expect(app.host.accounts.get(`ext_${name}`)?.open).toBe(false);
    // Once, and nothing of it is in the way of another request.
    const records = (await app.auditRows("access.refuse")).length;
    await pass(MINUTE);
    expect(await app.auditRows("access.refuse")).toHaveLength(records);
    const client = await loginUser(app.system, app.app, name);
    const own = (await client.call("GET", "/me")).body.data.on_request.request;
    expect(own).toMatchObject({ id: request, status: "rejected", reason });
    expect((await client.call("POST", "/me/access", { hours: 1, reason: "Again" })).status).toBe(202);
  });

  test("kills the sponsor's link to it", async () => {
    const { name, request } = await ask("sponsor");
    const token = await link();
    await pass(7 * DAY);
    await expect(lookAt(app.system, token)).rejects.toMatchObject({ reason: "decision.closed" });
    const late = decide(app.system, token, [{ id: request, answer: "allow" }]);
    await expect(late).rejects.toMatchObject({ code: "conflict" });
    expect(app.host.accounts.get(`ext_${name}`)?.open).toBe(false);
  });

  test("takes nothing for unanswered while the clock is in doubt", async () => {
    const { request } = await ask("review");
    await beat(app.services);
    app.clock.advance(30 * DAY);
    await endUnanswered(app.services, await beat(app.services));
    expect(await stored(request)).toMatchObject({ status: "pending" });
    await pass(0);
    expect(await stored(request)).toMatchObject({ status: "rejected" });
  });

  test("at the same instant as an answer: one of both, and the account as that says", async () => {
    for (let n = 0; n < 4; n++) {
      const { name, request } = await ask("review");
      app.clock.advance(7 * DAY);
      const time = await endHold(app.services);
      const [allowed] = await Promise.allSettled([
        reviewApplication(app.system, request, { approve: true }),
        endUnanswered(app.services, time),
      ]);
      const isAllowed = allowed.status === "fulfilled";
      expect(await stored(request)).toMatchObject({ status: isAllowed ? "approved" : "rejected" });
      expect(app.host.accounts.get(`ext_${name}`)?.open).toBe(isAllowed);
      expect((await subjects(name)).some((one) => one.startsWith("Nobody answered"))).toBe(!isAllowed);
    }
  });

  test("ends nothing else: an application waits for a reviewer, and a user who is gone asks for nothing", async () => {
    const input = { username: "waits", email: "waits@example.org" };
    const application = await submitApplication(app.system, input);
    const { id, request } = await ask("review");
    await deleteUser(app.system, id);
    const gone = await stored(request);
    await pass(90 * DAY);
    expect(await stored(application.id)).toMatchObject({ status: "pending" });
    expect(await stored(request)).toEqual(gone as NonNullable<typeof gone>);
  });
});

describe("askWaitingSponsors()", () => {
  test("asks once more about an applicant when the link is dead, and then no more; somebody else is asked anew", async () => {
    await submitApplication(app.system, { username: "carol", email: "carol@example.org", sponsorEmail: BO });
    const mailed = async (email: string) => {
      await askWaitingSponsors(app.services);
      return await app.db.$count(questions, and(eq(questions.kind, "vouch"), eq(questions.email, email)));
    };
    expect(await mailed(BO)).toBe(1);
    app.clock.advance(14 * DAY);
    expect(await mailed(BO)).toBe(2);
    app.clock.advance(14 * DAY);
    expect(await mailed(BO)).toBe(2);
    const { items } = await listApplications(app.system, { status: "pending" }, { page: 1, pageSize: 9 });
    expect(items).toMatchObject([{ username: "carol", sponsorAnswer: "asked" }]);
    await moveSponsor(app.system, { from: BO, to: "mo@example.org" });
    expect(await mailed("mo@example.org")).toBe(1);
  });
});
