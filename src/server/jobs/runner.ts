/** Runs jobs so that each is run by one instance at a time, and so that all of them leave connections for their work and for requests. */

import type { Services } from "../../domain/operation/context.ts";
import { createGate } from "../../shared/work/bounded.ts";
import { withJobLock } from "../../store/job-lock.ts";

/** A piece of work that repeats itself. */
export interface Job {
  readonly name: string;
  /** When, as in crontab(5), in UTC. */
  readonly schedule: string;
  /** Whether it waits for no other job: for what shuts and opens access at a given second. */
  readonly isUrgent?: true;
  /** Ends early, without leaving anything half done, when `signal` says so. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Besides the urgent ones. While a job runs its lock takes a connection, and its work needs others: as many jobs as there are connections
 * would wait for each other without end.
 */
const JOBS_AT_ONCE = 3;

/** Starts jobs; never rejects. */
export interface Runner {
  /** Starts a job, or takes part in waiting for the run that has not ended. */
  start(job: Job): Promise<void>;
  /** The same, but of a run that has not begun yet. */
  startAnew(job: Job): Promise<void>;
  /** Resolves when nothing runs that was started before. */
  ended(): Promise<void>;
}

/** Begins nothing once `signal` is aborted. */
export function createRunner(services: Services, signal: AbortSignal): Runner {
  const running = new Map<string, Promise<void>>();
  // Each job waits at most once, so that there is always room to wait.
  const gate = createGate({ concurrency: JOBS_AT_ONCE, maxQueue: Number.POSITIVE_INFINITY, retryAfter: 0 });
  const begin = async (job: Job): Promise<void> => {
    if (!signal.aborted) await runJob(services, job, signal);
  };
  const start = (job: Job): Promise<void> => {
    const current = running.get(job.name);
    if (current !== undefined || signal.aborted) return current ?? Promise.resolve();
    const run = (job.isUrgent ? begin(job) : gate(() => begin(job))).finally(() => running.delete(job.name));
    running.set(job.name, run);
    return run;
  };
  return {
    start,
    async startAnew(job) {
      await running.get(job.name);
      return start(job);
    },
    async ended() {
      await Promise.all(running.values());
    },
  };
}

/** Runs the job unless another instance is running it; never throws. */
async function runJob({ db, log }: Services, job: Job, signal: AbortSignal): Promise<void> {
  try {
    const ran = await withJobLock(db, job.name, (lost) => job.run(AbortSignal.any([signal, lost])));
    if (!ran) log.debug("another instance is running the job", { job: job.name });
  } catch (error) {
    log.error("a job failed; it will run again", { job: job.name, error });
  }
}
