/** What a process knows about the hosts with agents: one for the services of a process, however many ask. */

import { sql } from "drizzle-orm";
import { SECOND } from "../../shared/clock.ts";
import type { Database } from "../../store/client.ts";
import type { Services } from "../operation/context.ts";
import { type Authenticator, createAuthenticator } from "./authentication.ts";
import { createReports, type Reports } from "./report.ts";
import { createStates, type States } from "./state.ts";

export interface Fleet {
  readonly authenticator: Authenticator;
  readonly states: States;
  readonly reports: Reports;
  /** Whether there is any host besides the service's own, as far as was known a few seconds ago. */
  hasRemote(): Promise<boolean>;
  /** Answers all who wait, and holds nobody from now on. */
  release(): void;
  /** Stops following the log. */
  stop(): Promise<void>;
}

/** That there is no remote host is believed for so long: one is joined seldom, and nobody should pay for the question. */
const BELIEVED = 5 * SECOND;

const known = new WeakMap<Database, Fleet>();

/** The fleet of these services; nothing runs before the first agent asks. */
export function fleetOf(services: Services): Fleet {
  const made = known.get(services.db) ?? create(services);
  known.set(services.db, made);
  return made;
}

function create(context: Services): Fleet {
  const { db, autocommit, host, clock, log, hasher, seal, policy } = context;
  // Not on behalf of whoever happened to ask first.
  const services: Services = { db, autocommit, host, clock, log, hasher, seal, policy };
  const states = createStates(services);
  let found = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  return {
    authenticator: createAuthenticator(services),
    states,
    reports: createReports(services, states.knows),
    hasRemote: async () => {
      if (found || performance.now() - askedAt < BELIEVED) return found;
      const began = performance.now();
      const [row] = await autocommit.execute<{ found: boolean }>(
        sql`select exists (select 1 from hosts where kind = 'remote') as found`,
      );
      found = row?.found === true;
      askedAt = began;
      return found;
    },
    release: states.release,
    stop: states.stop,
  };
}
