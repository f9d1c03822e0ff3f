/** The jobs that the service runs by itself, and their schedule. */

import { Cron } from "croner";
import { tellOfWaitingApplications } from "../../domain/approvals/notices.ts";
import { endUnanswered } from "../../domain/approvals/unanswered.ts";
import { createHeadReporter } from "../../domain/audit/head.ts";
import { finishEndings } from "../../domain/companies/ending.ts";
import { finishNarrowings } from "../../domain/companies/narrowing.ts";
import { remindOfContracts } from "../../domain/companies/reminders.ts";
import { settleChanges } from "../../domain/hosts/confirmation.ts";
import { passOwnHostHours } from "../../domain/hosts/own-host-hours.ts";
import { purgeDrift } from "../../domain/hosts/problems.ts";
import { forgetRetired } from "../../domain/hosts/retirement.ts";
import { tellOfSilence } from "../../domain/hosts/silence.ts";
import { noteKeyUse } from "../../domain/keys/last-use.ts";
import { mailAuditHead } from "../../domain/lifecycle/audit-head.ts";
import { cleanUp, purgeDue } from "../../domain/lifecycle/clean-up.ts";
import { tellEndingSoon } from "../../domain/lifecycle/ending-soon.ts";
import { beat } from "../../domain/lifecycle/heartbeat.ts";
import { followDueHours, recordEndedSessions } from "../../domain/lifecycle/hours.ts";
import { endInactive } from "../../domain/lifecycle/inactivity.ts";
import { expireDue, recycleDue } from "../../domain/lifecycle/lifecycle.ts";
import { remindExpiring } from "../../domain/lifecycle/reminders.ts";
import { remindOfTokens } from "../../domain/lifecycle/token-reminders.ts";
import { type Services, systemContext } from "../../domain/operation/context.ts";
import { workOnReviews } from "../../domain/reviews/due.ts";
import { noteConfigured } from "../../domain/settings/settings.ts";
import { askWaitingSponsors } from "../../domain/sponsors/asking.ts";
import { followSponsors } from "../../domain/sponsors/following.ts";
import { storeCounts } from "../../domain/stats/daily.ts";
import { mailTerms, noteTerms } from "../../domain/users/terms.ts";
import type { Drift } from "../../protocol/host.ts";
import { startDelivery } from "../mail/delivery.ts";
import type { MailTransport } from "../mail/mail.ts";
import { startHoursTimer } from "./hours-timer.ts";
import { createRunner, type Job } from "./runner.ts";

/** Runs at the second, too: hours-timer.ts. */
const HOURS = "hours";

/** The dependencies of the jobs besides the services. */
export interface JobParts {
  /** Where the journal of `uam lock` is. */
  readonly dataDir: string;
  readonly transport: MailTransport;
  /** Repairs the host and returns what differed. */
  readonly reconcile: () => Promise<readonly Drift[]>;
}

/** The jobs of a running service. */
export interface RunningJobs {
  /** Resolves when what had become due while the service was stopped is done, or the jobs were stopped. */
  readonly caughtUp: Promise<void>;
  /** Begins nothing more, and waits for what runs: for the user who is being processed and the mail that is being sent. */
  stop(): Promise<void>;
}

/** All jobs, in the order in which they catch up at the start. */
export function jobsOf(services: Services, { reconcile, dataDir }: JobParts): readonly Job[] {
  const context = systemContext(services);
  const logDrifts = createDriftLog(services);
  // Before this nobody was listening, so that no host can have been silent.
  const startedAt = services.clock.now();
  return [
    { name: "expire", schedule: "* * * * *", isUrgent: true, run: (signal) => expire(services, signal) },
    { name: HOURS, schedule: "* * * * *", isUrgent: true, run: (signal) => followHours(services, dataDir, signal) },
    {
      name: "companies",
      schedule: "* * * * *",
      run: async (signal) => {
        await finishEndings(services, signal);
        await finishNarrowings(services, signal);
      },
    },
    {
      name: "reviews",
      schedule: "* * * * *",
      run: async (signal) => await workOnReviews(services, await beat(services), signal),
    },
    {
      // Once key use is known: not while catching up, which ends with that.
      name: "inactivity",
      schedule: "*/10 * * * *",
      run: async (signal) => await endInactive(services, await beat(services), signal),
    },
    {
      // Separate from expiring, which must not wait until a large home directory is removed.
      name: "recycle",
      schedule: "* * * * *",
      run: async (signal) => void (await recycleDue(context, await beat(services), signal)),
    },
    { name: "terms", schedule: "*/10 * * * *", run: (signal) => mailTerms(services, signal) },
    { name: "tokens", schedule: "*/10 * * * *", run: (signal) => remindOfTokens(services, signal) },
    { name: "applications", schedule: "* * * * *", run: () => askAboutApplications(services) },
    {
      name: "hosts",
      schedule: "* * * * *",
      run: async () => {
        for (const host of await forgetRetired(services)) services.log.info("a host was retired", { host });
        await tellOfSilence(services, startedAt);
        await purgeDrift(services);
      },
    },
    { name: "ended-sessions", schedule: "* * * * *", run: (signal) => recordEndedSessions(services, signal) },
    { name: "fleet-changes", schedule: "* * * * *", run: () => settleChanges(services) },
    ...(services.reserve === undefined
      ? []
      : [{ name: "reserve", schedule: "* * * * *", run: async () => services.reserve?.lay() }]),
    { name: "reconcile", schedule: "* * * * *", run: async () => logDrifts(await reconcile()) },
    { name: "clean-up", schedule: "17 * * * *", run: () => cleanUp(services) },
    ...(services.host.mode === "none"
      ? []
      : [
          { name: "jobs-kept", schedule: "37 * * * *", run: () => services.host.forgetJobs() },
          { name: "silent", schedule: "* * * * *", run: () => services.host.endSilent(services.clock.now()) },
          { name: "ending-soon", schedule: "* * * * *", run: () => tellEndingSoon(services) },
        ]),
    // Once a day, because each time is a record and a mail.
    {
      name: "purge",
      schedule: "27 4 * * *",
      run: async () => void (await purgeDue(context, await beat(services))),
    },
    // Often, because the last count of a day is what the day is shown with.
    { name: "daily-counts", schedule: "*/10 * * * *", run: () => storeCounts(services) },
    { name: "audit-head", schedule: "47 * * * *", run: createHeadReporter(services) },
    { name: "audit-head-mail", schedule: "7 5 * * *", run: () => mailAuditHead(services) },
    // The last to catch up, because nothing depends on it and a long log takes a while.
    ...(services.host.mode === "none"
      ? []
      : [{ name: "key-use", schedule: "* * * * *", run: (signal: AbortSignal) => noteKeyUse(services, signal) }]),
  ];
}

/** Administrators are told of them, and sponsors are asked; what nobody answered is void before. */
async function askAboutApplications(services: Services): Promise<void> {
  await endUnanswered(services, await beat(services));
  await tellOfWaitingApplications(services);
  await followSponsors(services);
  await askWaitingSponsors(services);
}

/** Also hours of the service's own host that a crash kept from its accounts. */
async function followHours(services: Services, dataDir: string, signal: AbortSignal): Promise<void> {
  await passOwnHostHours(services);
  await followDueHours(services, dataDir, signal);
}

/** Ends what is over, and tells of what ends soon. */
async function expire(services: Services, signal: AbortSignal): Promise<void> {
  const time = await beat(services);
  await expireDue(systemContext(services), time, signal);
  await remindExpiring(services, time.now, signal);
  await remindOfContracts(services, time.now, signal);
}

/**
 * Starts sending mail, does in the background what has become due, and then runs each job when its time comes. A job never
 * overlaps itself, on this instance or another one on the same database; one that fails is logged and runs again next time.
 */
export function startJobs(services: Services, parts: JobParts): RunningJobs {
  const stopping = new AbortController();
  const runner = createRunner(services, stopping.signal);
  const jobs = jobsOf(services, parts);
  const delivery = startDelivery(services, parts.transport);
  // Before anything is deleted by a period that was shortened while the service was stopped.
  const settings: Job = {
    name: "settings",
    schedule: "",
    run: async () => {
      await noteConfigured(systemContext(services));
      await noteTerms(services);
    },
  };
  async function catchUp(): Promise<void> {
    for (const job of [settings, ...jobs]) await runner.start(job);
  }
  const caughtUp = catchUp();
  // An offset, not a time zone: those bring Intl's tables with them, 3 MiB that stay.
  const crons = jobs.map((job) => new Cron(job.schedule, { utcOffset: 0 }, () => runner.start(job)));
  const hours = jobs.filter(({ name }) => name === HOURS);
  const timer = startHoursTimer(services, async () => void (await Promise.all(hours.map(runner.startAnew))));
  return {
    caughtUp,
    async stop() {
      for (const cron of crons) cron.stop();
      stopping.abort();
      await Promise.all([caughtUp, runner.ended(), timer.stop(), delivery.stop()]);
      await parts.transport.close();
    },
  };
}

/** Logs what was repaired, and what could not be only when it is first seen: it would be logged every minute. */
function createDriftLog({ log }: Services): (drifts: readonly Drift[]) => void {
  let known: ReadonlySet<string> = new Set();
  return (drifts) => {
    const standing = drifts.filter((drift) => !drift.repaired);
    const keyOf = (drift: Drift): string => JSON.stringify([drift.account, drift.problem]);
    for (const drift of drifts) {
      if (drift.repaired || !known.has(keyOf(drift))) log.warn("the host differed from what is stored", { ...drift });
    }
    known = new Set(standing.map(keyOf));
  };
}
