import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import type { Services } from "../../../src/domain/operation/context.ts";
import { listUsers } from "../../../src/domain/users/list.ts";
import { createUser, disableUser } from "../../../src/domain/users/users.ts";
import type { Drift } from "../../../src/protocol/host.ts";
import { jobsOf, startJobs } from "../../../src/server/jobs/jobs.ts";
import type { Job } from "../../../src/server/jobs/runner.ts";
import { deliverDue } from "../../../src/server/mail/delivery.ts";
import type { Log } from "../../../src/shared/log.ts";
import { DAY, HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { withJobLock } from "../../../src/store/job-lock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { createTestPost, type TestPost } from "../../support/post.ts";
import { testSlow } from "../../support/thorough.ts";

let app: TestApp;
let post: TestPost;

beforeEach(async () => {
  app = await createTestApp();
  post = createTestPost();
}, 180_000);
afterEach(() => app.close());

const parts = (reconcile: () => Promise<readonly Drift[]> = async () => []) => ({
  transport: post,
  dataDir: app.config.dataDir,
  reconcile,
});
/** Starts the jobs as the service does, lets them catch up, and stops them. */
async function serveOnce(services: Services = app.services): Promise<void> {
  const jobs = startJobs(services, parts());
  await jobs.caughtUp;
  await jobs.stop();
  // What would have been sent, had it not been stopped right away.
  await deliverDue(services, post);
}
/** The job as if its time had come. */
async function run(name: string, services: Services = app.services): Promise<void> {
  await (jobsOf(services, parts()).find((job) => job.name === name) as Job).run(new AbortController().signal);
}
const create = (username: string, ttlDays: number, supervisor = "") =>
  createUser(app.system, { username, email: `${username}@example.org`, ttlDays, supervisor });
const statusOf = async () =>
  Object.fromEntries(
    (await listUsers(app.system, {}, { page: 1, pageSize: 100 })).items.map((user) => [user.username, user.status]),
  );
const trail = async () =>
  (await app.auditRows())
    .filter((row) => row.action.startsWith("lifecycle."))
    .map((row) => ({ ...row, detail: JSON.parse(row.detail) }));

describe("startJobs()", () => {
  testSlow(
    "after three days without the service, does everything that has become due, once, recycling after its day of grace",
    async () => {
      await addAdmin(app.system, "root-admin", "root@example.org", "seven lanterns over cold water");
      await serveOnce();
      // Until the stop: `old` expires, and its recycle period ends while the service is stopped.
      await create("old", 1);
      await create("first", 31, "chief@example.org");
      await create("second", 33);
      await create("third", 38);
      const { id: shut } = await create("shut", 32);
      await disableUser(app.system, shut);
      app.clock.advance(DAY);
      await serveOnce();
      app.clock.advance(DAY * 29 + HOUR);
      // The service ran through these days.
      await serveOnce();
      await app.db.execute("update service_state set hold_until = null");
      const stopped = app.clock.now();
      expect(await statusOf()).toEqual({
        old: "expired",
        first: "active",
        second: "active",
        third: "active",
        shut: "disabled",
      });
      const before = (await trail()).length;
      const mailed = post.sent.length;

      app.clock.set(new Date(stopped.getTime() + 3 * DAY));
      const started = app.clock.now();
      await serveOnce();
      await serveOnce();
      expect(await statusOf()).toEqual({
        old: "expired",
        first: "expired",
        second: "expired",
        third: "active",
        shut: "expired",
      });
      for (const name of ["first", "second", "shut"])
        expect(app.host.accounts.get(`ext_${name}`)).toMatchObject({ open: false });
      const expiries = (await trail()).slice(before);
      // Begun in the order in which they became due, several at the same time.
      expect(expiries.map((row) => [row.action, row.detail.username, row.actor, row.result]).sort()).toEqual([
        ["lifecycle.expire", "first", "system", "success"],
        ["lifecycle.expire", "second", "system", "success"],
        ["lifecycle.expire", "shut", "system", "success"],
      ]);
      for (const row of expiries) expect(row).toMatchObject({ actorType: "system", createdAt: started });
      const news = (to: string) => post.sent.slice(mailed).filter((mail) => mail.to === `${to}@example.org`);
      for (const name of ["first", "second", "shut"]) {
        expect(news(name).map((mail) => mail.subject)).toEqual([expect.stringContaining("has ended")]);
      }
      expect(news("third").map((mail) => mail.subject)).toEqual([expect.stringContaining("in 5 days")]);
      expect(news("root").map((mail) => mail.subject)).toEqual([
        expect.stringContaining("recycling is on hold"),
        expect.stringContaining("audit log head"),
      ]);
      expect(post.sent.length - mailed).toBe(6);

      // The day of grace, a minute short of it, and its end.
      for (let hours = 1; hours < 24; hours++) {
        app.clock.advance(HOUR);
        for (const job of ["expire", "recycle"]) await run(job);
      }
      app.clock.advance(59 * MINUTE);
      await run("recycle");
      expect(app.host.accounts.has("ext_old")).toBe(true);
      app.clock.advance(MINUTE);
      await run("recycle");
      await run("recycle");
      expect(app.host.accounts.has("ext_old")).toBe(false);
      const recycled = (await trail()).slice(before + 3);
      expect(recycled.map((row) => [row.action, row.detail.username, row.actor, row.createdAt])).toEqual([
        ["lifecycle.recycle", "old", "system", new Date(started.getTime() + DAY)],
      ]);
    },
    180_000,
  );

  testSlow(
    "two instances on one database do everything exactly once",
    async () => {
      await serveOnce();
      for (let index = 0; index < 20; index++) await create(`user-${index}`, index < 10 ? 1 : 15);
      app.clock.advance(DAY);
      const jobs = [startJobs(app.services, parts()), startJobs(app.services, parts())];
      await Promise.all(jobs.map((each) => each.caughtUp));
      for (let round = 0; round < 3; round++)
        await Promise.all([run("expire"), run("expire"), run("recycle"), run("recycle")]);
      await Promise.all(jobs.map((each) => each.stop()));
      await serveOnce();
      expect((await trail()).map((row) => row.action)).toEqual(Array(10).fill("lifecycle.expire"));
      expect(new Set((await trail()).map((row) => row.resourceId)).size).toBe(10);
      const subjects = post.sent.map((mail) => `${mail.to} ${mail.subject}`);
      expect(new Set(subjects).size).toBe(subjects.length);
      expect(subjects.filter((subject) => subject.includes("has ended"))).toHaveLength(10);
      expect(subjects.filter((subject) => subject.includes("in 14 days"))).toHaveLength(10);
    },
    180_000,
  );

  test("a job that another instance is running is left to it, and the others run", async () => {
    const { promise: hang, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    const reconcile = async () => {
      calls++;
      await hang;
      return [];
    };
    const slow = startJobs(app.services, parts(reconcile));
    while (calls === 0) await Bun.sleep(10);
    const other = startJobs(app.services, parts(reconcile));
    await other.caughtUp;
    expect(calls).toBe(1);
    resolve();
    await Promise.all([slow.stop(), other.stop()]);
  }, 180_000);

  test("stop() waits for the users who are being processed and begins no other", async () => {
    await serveOnce();
    for (const name of ["a", "b", "c", "d", "e", "f"]) await create(name, 1);
    app.clock.advance(DAY);
    const { promise: hang, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    const host = {
      ...app.host,
      shutAccount: async (account: Parameters<typeof app.host.shutAccount>[0]) => {
        begun++;
        await hang;
        return await app.host.shutAccount(account);
      },
    };
    const jobs = startJobs({ ...app.services, host }, parts());
    // So many at the same time.
    while (begun < 4) await Bun.sleep(10);
    let stopped = false;
    const stopping = jobs.stop().then(() => {
      stopped = true;
    });
    await Bun.sleep(100);
    expect(stopped).toBe(false);
    resolve();
    await stopping;
    expect(begun).toBe(4);
    const expired = Array.from({ length: 4 }, () => "expired" as const);
    expect(Object.values(await statusOf()).sort()).toEqual(["active", "active", ...expired]);
    expect(app.host.accounts.get("ext_a")?.open).toBe(false);
  }, 180_000);

  test("a job that fails is logged and does not keep the others from running", async () => {
    const errors: unknown[] = [];
    let calls = 0;
    const log = {
      ...app.services.log,
      error: (_: string, fields: { readonly job?: string }) => void errors.push(fields.job),
    } as Log;
    const jobs = startJobs(
      { ...app.services, log },
      parts(async () => {
        calls++;
        throw new Error("no such host");
      }),
    );
    await jobs.caughtUp;
    await jobs.stop();
    // Twice, where a minute begins meanwhile.
    expect(calls).toBeGreaterThan(0);
    expect(errors).toEqual(Array(calls).fill("reconcile"));
  }, 180_000);
});

describe("jobsOf()", () => {
  test("reconcile logs what was repaired, and what cannot be repaired once", async () => {
    const missing: Drift = {
      account: "ext_a",
      kind: "missing",
      problem: "the account is missing on the host",
      repaired: false,
    };
    const edited: Drift = {
      account: "ext_b",
      kind: "key_file",
      problem: "authorized keys file differs",
      repaired: true,
    };
    const logged: unknown[] = [];
    const log = { ...app.services.log, warn: (_: string, fields: unknown) => void logged.push(fields) } as Log;
    const answers: readonly Drift[][] = [[missing, edited], [missing], [missing, edited], [], [missing]];
    let turn = 0;
    const jobs = jobsOf(
      { ...app.services, log },
      parts(async () => answers[turn++] ?? []),
    );
    const reconcile = jobs.find((job) => job.name === "reconcile") as Job;
    for (const _ of answers) await reconcile.run(new AbortController().signal);
    expect(logged).toEqual([missing, edited, edited, missing]);
  });

  test("has root's old copies of removed jobs deleted each hour, where the service has a host", async () => {
    let asked = 0;
    const host = { ...app.services.host, forgetJobs: async () => void asked++ };
    await run("jobs-kept", { ...app.services, host });
    expect(asked).toBe(1);
    const none = jobsOf({ ...app.services, host: { ...host, mode: "none" } }, parts());
    expect(none.map(({ name }) => name)).not.toContain("jobs-kept");
  });

  test("ends silent sessions by the service's own clock, where the service has a host", async () => {
    const asked: Date[] = [];
    const host = { ...app.services.host, endSilent: async (now: Date) => void asked.push(now) };
    await run("silent", { ...app.services, host });
    expect(asked).toEqual([app.services.clock.now()]);
    const none = jobsOf({ ...app.services, host: { ...host, mode: "none" } }, parts());
    expect(none.map(({ name }) => name)).not.toContain("silent");
  });

  test("says for each job when it runs, expiry and recycling each minute", () => {
    const schedules = Object.fromEntries(jobsOf(app.services, parts()).map((job) => [job.name, job.schedule]));
    expect(schedules).toMatchObject({ expire: "* * * * *", recycle: "* * * * *", reconcile: "* * * * *" });
    for (const schedule of Object.values(schedules)) expect(schedule.split(" ")).toHaveLength(5);
  });
});

describe("withJobLock()", () => {
  test("tells the work that its connection and so its lock are gone, and waits for its end", async () => {
    const handle = openDatabase(app.connection, 1);
    const other = openDatabase(app.connection, 1);
    const events: string[] = [];
    const running = withJobLock(handle.db, "trial", async (lost) => {
      const ended = Promise.withResolvers<void>();
      lost.addEventListener("abort", () => {
        events.push("lost");
        setTimeout(ended.resolve, 50);
      });
      await app.alter("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 2");
      await ended.promise;
      events.push("ended");
    });
    await expect(running).rejects.toThrow();
    expect(events).toEqual(["lost", "ended"]);
    expect(await withJobLock(other.db, "trial", async () => void events.push("again"))).toBeTrue();
    await Promise.all([handle.close(), other.close()]);
  });
});
