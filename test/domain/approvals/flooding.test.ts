/** Applications in other people's names: what they must not do to who has the address, and to everybody else. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { mailApplicant } from "../../../src/domain/approvals/flooding.ts";
import { applicationArrived } from "../../../src/domain/mail/messages.ts";
import { purgeOutbox } from "../../../src/domain/mail/outbox.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { DAY, HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { approvals, outbox } from "../../../src/store/schema.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { until } from "../../support/until.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
});
afterAll(() => app.close());

function apply(email: string) {
  return app.anonymous().call("POST", "/approvals", { username: `a${++count}`, email, purpose: "A study" });
}

async function sentTo(email: string) {
  return (await app.mails(email)).filter(({ status }) => status !== "dropped");
}

const pendingOf = async (email: string) =>
  (await app.db.select().from(approvals).where(eq(approvals.email, email))).length;

async function decideAll(): Promise<void> {
  await app.db.update(approvals).set({ status: "rejected" }).where(eq(approvals.status, "pending"));
  app.clock.advance(2 * DAY);
}

describe("mails about applications", () => {
  test("are three within any day to one mailbox, however it is written and whoever asks", async () => {
    app.clock.set(new Date("2026-11-20T20:00:00Z"));
    for (const email of ["victim@example.org", "Victim@Example.org", "victim+1@example.org", "victim+2@example.org"]) {
      expect((await apply(email)).status).toBe(201);
    }
    const all = async () =>
      (await app.db.select().from(outbox).where(sql`lower(recipient) like 'victim%'`)).filter(
        ({ status }) => status !== "dropped",
      );
    expect(await all()).toHaveLength(3);
    // Not by the calendar: midnight is no new day.
    app.clock.advance(6 * HOUR);
    await apply("victim@example.org");
    expect(await all()).toHaveLength(3);
    app.clock.advance(18 * HOUR);
    for (let n = 0; n < 4; n++) await apply("victim@example.org");
    expect(await all()).toHaveLength(6);
    expect((await apply("somebody-else@example.org")).status).toBe(201);
    expect(await sentTo("somebody-else@example.org")).toHaveLength(1);
    await decideAll();
  });

  test("dots, and the other name of the provider, make no other mailbox", async () => {
    const mailbox = [
      "va.r@gmail.com",
      "v.a.r@gmail.com",
      "var+x@Gmail.com",
      "v.ar@googlemail.com",
      "va.r+y@googlemail.com",
    ];
    for (const email of mailbox) expect((await apply(email)).status).toBe(201);
    const sent = await Promise.all(mailbox.map(sentTo));
    expect(sent.flat()).toHaveLength(3);
    await decideAll();
  });

  test("two at the same instant are both sent", async () => {
    const { db, services } = app;
    const context = systemContext(services);
    const email = "at-once@example.org";
    const letter = applicationArrived(services.policy.site, { username: "at-once" });
    let second: Promise<void> | undefined;
    await db.transaction(async (tx) => {
      await mailApplicant({ tx, context }, email, letter);
      second = db.transaction(async (other) => await mailApplicant({ tx: other, context }, email, letter));
      await until(async () => {
        const [waiting] = await db.execute<{ locks: number }>(
          sql`select count(*)::int as locks from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting?.locks === 1;
      });
    });
    await second;
    expect(await sentTo(email)).toHaveLength(2);
  });

  test("a refusal counts among them, and what an administrator grants is always told", async () => {
    const ids: number[] = [];
    for (let n = 0; n < 3; n++) ids.push((await apply("named@example.org")).body.data.id);
    const review = (id: number | undefined, body: object) => admin.call("POST", `/approvals/${id}/review`, body);
    expect((await review(ids[0], { approve: false, reason: "not known" })).status).toBe(200);
    expect(await sentTo("named@example.org")).toHaveLength(3);
    expect((await review(ids[1], { approve: true, create_user: false })).status).toBe(200);
    expect((await review(ids[2], { approve: true })).status).toBe(200);
    expect((await sentTo("named@example.org")).slice(3).map(({ subject }) => subject)).toEqual([
      "Your application for 127.0.0.1 is approved",
      "Your access to 127.0.0.1 is ready",
    ]);
    app.clock.advance(2 * DAY);
    const { id } = (await apply("named@example.org")).body.data;
    await review(id, { approve: false, reason: "not known" });
    expect((await sentTo("named@example.org")).slice(5).map(({ subject }) => subject)).toEqual([
      "Your application for 127.0.0.1 has arrived",
      "Your application for 127.0.0.1",
    ]);
    await decideAll();
  });

  test("are kept no longer than others", async () => {
    await apply("kept@example.org");
    await app.db
      .update(outbox)
      .set({ status: "sent", finishedAt: app.clock.now() })
      .where(eq(outbox.recipient, "kept@example.org"));
    app.clock.advance(30 * DAY + MINUTE);
    await purgeOutbox(app.services);
    expect(await app.mails("kept@example.org")).toEqual([]);
    await decideAll();
  });
});

describe("the queue of applications", () => {
  test("20 addresses with 10 each leave room for who has another address; nothing tells which are flooded", async () => {
    admin = await app.admin();
    const answers: { readonly status: number; readonly keys: string }[] = [];
    let last = 0;
    for (let round = 0; round < 10; round++) {
      for (let n = 0; n < 20; n++) {
        const { status, body, headers } = await apply(`flooded-${n}@example.org`);
        answers.push({ status, keys: Object.keys(body.data ?? {}).join(" ") + headers.get("uam-error") });
        expect(body.data).toMatchObject({ status: "pending", email: `flooded-${n}@example.org` });
        // Its number is like any other.
        expect(body.data.id).toBeGreaterThan(last);
        last = body.data.id;
      }
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const pending = await app.db.$count(approvals, eq(approvals.status, "pending"));
    expect(pending).toBeLessThanOrEqual(100);
    // Each of them has what one person would have.
    for (let n = 0; n < 20; n++) expect(await pendingOf(`flooded-${n}@example.org`)).toBeGreaterThanOrEqual(2);
    expect((await apply("fresh@example.org")).status).toBe(201);
    expect(await pendingOf("fresh@example.org")).toBe(1);
    expect(await sentTo("fresh@example.org")).toHaveLength(1);
    // Who is in charge sees what was not kept.
    const dropped = (await app.auditRows("approval.submit")).filter(({ result }) => result === "failed");
    expect(dropped.length).toBe(200 - pending);
    expect(dropped.at(-1)?.detail).toContain("flooded-19@example.org");
    await decideAll();
  });

  test("who has a flooded address is kept while there are few", async () => {
    for (let n = 0; n < 10; n++) await apply("busy@example.org");
    expect(await app.db.$count(approvals, eq(approvals.status, "pending"))).toBe(10);
    await decideAll();
  });

  test("another way to write a mailbox gives it no further share", async () => {
    for (let n = 0; n < 3; n++) await apply("sh.are@gmail.com");
    for (let n = 0; n < 50; n++) await apply(`filler-${n}@example.org`);
    for (const email of ["s.hare@gmail.com", "Share+x@googlemail.com"]) {
      expect((await apply(email)).status).toBe(201);
      expect(await pendingOf(email)).toBe(0);
    }
    await decideAll();
  });
});
