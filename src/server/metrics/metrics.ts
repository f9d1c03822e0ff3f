/** The metrics for Prometheus, on an address of their own: they name nobody, but are not public either. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type ReceiverState, readReceivers } from "../../domain/events/receivers.ts";
import { countProblemsByKind } from "../../domain/hosts/problems.ts";
import type { Services } from "../../domain/operation/context.ts";
import { type Figures, readFigures } from "../../domain/stats/figures.ts";
import { HOST_PROBLEM_KINDS } from "../../protocol/fleet.ts";

/** A request that was answered. */
export interface Answered {
  readonly method: string;
  /** As registered, e.g. "/api/v1/users/:id"; "other" for what no route has. Never the path: each would become a series. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface Metrics {
  readonly observe: (answered: Answered) => void;
  /** Answers `GET /metrics`, and anything else with 404. */
  readonly fetch: (request: Request) => Promise<Response>;
}

export interface MetricsOptions {
  readonly services: Pick<Services, "autocommit" | "clock" | "log" | "policy">;
  readonly version: string;
  readonly runtime: string;
}

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Metrics of this process and, read whenever they are asked for, of what is stored. */
export function createMetrics({ services, version, runtime }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const info = new Gauge({
    ...{ registers, name: "uam_build_info", help: "1, with version and runtime", labelNames: ["version", "runtime"] },
  });
  info.set({ version, runtime }, 1);
  const labelNames = ["method", "route", "status"];
  const help = "Time to answer requests, by route and status";
  const requests = new Histogram({
    ...{ registers, name: "uam_http_request_duration_seconds", help, labelNames, buckets: BUCKETS },
  });
  const failures = new Counter({
    ...{ registers, name: "uam_database_read_failures_total", help: "Times the stored figures could not be read" },
  });
  const show = storedGauges(registers);
  // What hosts did not say before is nobody's silence.
  const startedAt = services.clock.now();
  return {
    observe: ({ method, route, status, seconds }) => requests.observe({ method, route, status }, seconds),
    fetch: async (request) => {
      if (request.method !== "GET" || new URL(request.url).pathname !== "/metrics") {
        return new Response("There is nothing here but GET /metrics\n", { status: 404 });
      }
      try {
        const at = services.clock.now();
        const figures = await readFigures(services.autocommit, at);
        const receivers = await readReceivers({ db: services.autocommit, policy: services.policy });
        const problems = await countProblemsByKind({ db: services.autocommit, clock: services.clock }, startedAt);
        show({ ...figures, receivers, problems, at });
      } catch (error) {
        // The other metrics are needed most when the database is away.
        services.log.error("the figures for monitoring could not be read", { error });
        failures.inc();
        show(undefined);
      }
      return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
    },
  };
}

interface Shown extends Figures {
  readonly receivers: readonly ReceiverState[];
  readonly problems: Awaited<ReturnType<typeof countProblemsByKind>>;
  readonly at: Date;
}

/** Sets the gauges of what is stored; without figures only `uam_database_up` is meaningful. */
function storedGauges(registers: Registry[]): (figures: Shown | undefined) => void {
  const gauge = (name: string, help: string, ...labelNames: readonly string[]) =>
    new Gauge({ registers, name, help, labelNames: [...labelNames] });
  const up = gauge("uam_database_up", "1 if the database answered just now");
  const users = gauge("uam_users", "External users, by status", "status");
  const outbox = gauge("uam_outbox_mails", "Mails that are waiting (queued) or were given up (dead)", "status");
  const approvals = gauge("uam_pending_approvals", "Applications that are waiting for an administrator");
  const head = gauge("uam_audit_head", "Number of the newest audit record");
  const lag = gauge("uam_receiver_lag_records", "Audit records that a receiver has not taken", "kind", "id");
  const away = gauge(
    "uam_receiver_failing_seconds",
    "Since when a receiver takes nothing; 0: all is well",
    "kind",
    "id",
  );
  const owed = gauge("uam_owed_closings", "How often access is still to be taken away");
  const since = gauge("uam_owed_seconds", "For how long the oldest of these has been waiting; 0: there is none");
  const problems = gauge("uam_host_problems", "Problems of hosts, by kind", "kind");
  const backup = gauge("uam_backup_timestamp_seconds", "When the newest backup was made; 0: never");
  const all = [users, outbox, approvals, head, lag, away, owed, since, problems, backup];
  return (figures) => {
    up.set(figures === undefined ? 0 : 1);
    for (const metric of all) metric.reset();
    if (figures === undefined) return;
    for (const [status, count] of Object.entries(figures.users)) users.set({ status }, count);
    for (const [status, count] of Object.entries(figures.outbox)) outbox.set({ status }, count);
    approvals.set(figures.pendingApprovals);
    head.set(figures.auditHead);
    owed.set(figures.owed.total);
    since.set(figures.owed.total === 0 ? 0 : Math.max(0, figures.at.getTime() / 1000 - figures.owed.since));
    for (const kind of HOST_PROBLEM_KINDS) problems.set({ kind }, figures.problems.get(kind) ?? 0);
    backup.set(figures.backedUpAt);
    for (const { kind, id, isOn, failingSince, lag: records } of figures.receivers) {
      // One that is switched off on purpose is nothing to be alarmed about.
      if (!isOn) continue;
      const labels = { kind, id: id ?? "" };
      lag.set(labels, records);
      away.set(labels, failingSince === null ? 0 : Math.max(0, figures.at.getTime() - failingSince.getTime()) / 1000);
    }
  };
}
