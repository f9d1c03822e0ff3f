/** The state of a process about the hosts with agents: one for all services of a process. */

import type { Database } from "../../store/client.ts";
import type { Services } from "../operation/context.ts";
import { type Authenticator, createAuthenticator } from "./authentication.ts";
import { createReports, type Reports } from "./report.ts";
import { createReportLimiter, type ReportLimiter } from "./report-limiter.ts";
import { createRotationLimiter, type RotationLimiter } from "./rotation.ts";
import { createStates, type States } from "./state.ts";

export interface Fleet {
  readonly authenticator: Authenticator;
  readonly states: States;
  readonly reports: Reports;
  readonly reportLimiter: ReportLimiter;
  readonly rotationLimiter: RotationLimiter;
  /** Answers all waiting requests, and holds none from now on. */
  release(): void;
  /** Stops following the log. */
  stop(): Promise<void>;
}

const known = new WeakMap<Database, Fleet>();

/** The fleet of these services; nothing runs before the first agent asks. */
export function fleetOf(services: Services): Fleet {
  const made = known.get(services.db) ?? create(services);
  known.set(services.db, made);
  return made;
}

function create(context: Services): Fleet {
  const { db, autocommit, host, clock, log, hasher, seal, policy } = context;
  // Not on behalf of the first caller.
  const services: Services = { db, autocommit, host, clock, log, hasher, seal, policy };
  const states = createStates(services);
  return {
    authenticator: createAuthenticator(services),
    states,
    reports: createReports(services, states.knows),
    reportLimiter: createReportLimiter(),
    rotationLimiter: createRotationLimiter(services),
    release: states.release,
    stop: states.stop,
  };
}
