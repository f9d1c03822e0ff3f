/** uam serve: the service. */

import { setTimeout as sleep } from "node:timers/promises";
import { type Config, ConfigError } from "../../../config/config.ts";
import { formatListen } from "../../../config/listen.ts";
import { hasAdmins } from "../../../domain/auth/find-administrator.ts";
import { noteServiceMode } from "../../../domain/hosts/service-mode.ts";
import { reconcileHost } from "../../../domain/lifecycle/reconcile.ts";
import { fleetOf } from "../../../domain/wire/fleet.ts";
import type { Drift } from "../../../protocol/host.ts";
import { resting } from "../../../runtime/rest.ts";
import type { RunningServer, Runtime, ServeOptions } from "../../../runtime/runtime.ts";
import { readTlsPair, type TlsFiles } from "../../../runtime/tls.ts";
import { serveWhole } from "../../../runtime/under-way.ts";
import { createApp } from "../../../server/api/app.ts";
import { openServices } from "../../../server/compose.ts";
import { startEventFollower } from "../../../server/events/event-follower.ts";
import type { Sender } from "../../../server/events/sender.ts";
import { openStream } from "../../../server/events/sinks.ts";
import { startJobs } from "../../../server/jobs/jobs.ts";
import type { MailTransport } from "../../../server/mail/mail.ts";
import { createTransport } from "../../../server/mail/transport.ts";
import type { Metrics, MetricsOptions } from "../../../server/metrics/metrics.ts";
import { publicMessage, UamError } from "../../../shared/errors.ts";
import type { Log } from "../../../shared/log.ts";
import { termsIn } from "../../../shared/text/terms.ts";
import { SECOND, systemClock } from "../../../shared/time/clock.ts";
import { VERSION } from "../../../shared/version.ts";
import { faultPoint } from "../../../shared/work/fault-point.ts";
import { broughtPostgres } from "../../../store/postgres/postgres-brought.ts";
import { type CliEnvironment, commandLog, EXIT, loadConfigOnHost } from "../../terminal/environment.ts";
import { ssoProviderOf } from "../administrators/single-sign-on.ts";
import { openPages, type Pages } from "./pages.ts";
import { openServiceManager, type ServiceManager } from "./service-manager.ts";
import { webOptionsOf } from "./web-options.ts";
import { firstAdminCommand, welcome } from "./welcome.ts";

/** How long requests under way may take once the service is told to stop. */
const DRAIN = 60 * SECOND;
/** One holds the lock by which one instance follows the audit log; the others read the log and store how far it has got. */
const FOLLOWER_CONNECTIONS = 3;
/**
 * How long the start waits until the host is reconciled. Processes that an owner keeps from ending take many seconds for
 * each account. They must not keep the service from closing others, nor a service manager waiting until it gives up.
 */
const START_PATIENCE = 10 * SECOND;

/** Migrates, reconciles and serves until the process is told to stop. */
export async function serve(environment: CliEnvironment): Promise<number> {
  const stopped = environment.untilStopped();
  const config = await loadConfigOnHost(environment);
  const log = await commandLog(environment, config, false);
  const { transport, pages } = openFromFiles(config, log);
  const manager = openServiceManager(environment.variables, environment.runtime, log);
  const handle = await openServices(config, log, { lifetime: "service", machine: environment.runtime });
  const servers: RunningServer[] = [];
  try {
    const { services } = handle;
    await noteServiceMode(services);
    const reconcile = () => reconcileHost(services, config.dataDir, "repair");
    faultPoint("start: database open, host not reconciled");
    const reconciled = reconcileAtStart(reconcile, log);
    await Promise.race([reconciled, sleep(START_PATIENCE, undefined, { ref: false })]);
    faultPoint("start: host reconciled, not serving");
    const sender = openSender(config);
    const about = { version: VERSION, runtime: environment.runtime.name };
    const metrics = await openMetrics(config, { services, ...about });
    const app = createApp(
      services,
      webOptionsOf(config, {
        ...about,
        observe: metrics?.observe,
        pages: pages.answer,
        logo: pages.logo,
        setupCommand: firstAdminCommand(config, environment),
        sso: await ssoProviderOf(config, services),
        sendWebhook: sender.send,
      }),
    );
    const monitored = await serveMetrics(environment.runtime, config, metrics);
    if (monitored !== undefined) servers.push(monitored);
    const server = await startServer(resting(environment.runtime), {
      listen: config.listen,
      tls: tlsFiles(config),
      fetch: app.fetch,
    });
    servers.push(server);
    log.info("serving", { address: server.address, version: VERSION, hostMode: services.host.mode });
    // Only for what a newcomer is told: a database that is away for a moment must not end the start.
    const known = await hasAdmins(services.db).catch(() => true);
    environment.err(
      welcome({ config, environment, address: server.address, hasAdmins: known, postgres: broughtPostgres() }),
    );
    const { dataDir } = config;
    const jobs = startJobs(services, { transport, dataDir, reconcile: () => reconciled.then(reconcile) });
    const own = handle.openMore(FOLLOWER_CONNECTIONS);
    const follower = startEventFollower(services, {
      db: own.db,
      sender,
      stream: openStream(config),
    });
    app.enter("serving");
    manager.ready(`answers at ${server.address}`);
    environment.onReload?.(() => {
      follower.reopen();
      pages.reload();
      void reload(server, manager, log);
    });
    await stopped;
    app.enter("stopping");
    manager.stopping();
    log.info("stopping: letting the requests and jobs under way finish");
    await Promise.all([server.stop(DRAIN), jobs.stop(), follower.stop(), reconciled]);
    await fleetOf(services).stop();
    await own.close();
    await monitored?.stop(0);
  } catch (error) {
    // A server that still listens would keep a process alive that serves nobody.
    await Promise.all(servers.map((server) => server.stop(0)));
    throw error;
  } finally {
    await handle.close();
    manager.close();
  }
  log.info("stopped");
  return EXIT.done;
}

/** Loaded with the first message: many services have no webhook, and it brings an HTTP client with it. */
function openSender({ webhookNetworks: networks }: Config): Sender {
  let opened: Promise<Sender> | undefined;
  const open = async (): Promise<Sender> => {
    const { createSender } = await import("../../../server/events/sender.ts");
    return createSender({ networks, clock: systemClock });
  };
  return {
    async send(to, message) {
      opened ??= open();
      return await (await opened).send(to, message);
    },
    close: () => void opened?.then((sender) => sender.close()),
  };
}

/** Never throws: the job tries failed work again, and the service is there to close accounts meanwhile. */
async function reconcileAtStart(reconcile: () => Promise<readonly Drift[]>, log: Log): Promise<void> {
  try {
    for (const drift of await reconcile()) log.warn("the host differed from what is stored", { ...drift });
  } catch (error) {
    log.error("the host could not be reconciled at the start; it is tried again each minute", { error });
  }
}

/** The metrics, or undefined where nobody asks: then the library is not loaded. */
async function openMetrics({ metrics }: Config, options: MetricsOptions): Promise<Metrics | undefined> {
  return metrics === undefined
    ? undefined
    : (await import("../../../server/metrics/metrics.ts")).createMetrics(options);
}

/** On its own address: those who may read the metrics are not those who may call the API. */
async function serveMetrics(
  runtime: Runtime,
  { metrics: listen }: Config,
  metrics: Metrics | undefined,
): Promise<RunningServer | undefined> {
  if (listen === undefined || metrics === undefined) return undefined;
  return await startServer(runtime, { listen, fetch: metrics.fetch });
}

async function startServer(runtime: Runtime, options: ServeOptions): Promise<RunningServer> {
  try {
    return await serveWhole(runtime, options);
  } catch (cause) {
    if (cause instanceof UamError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UamError("internal", `Cannot listen on ${formatListen(options.listen)}: ${reason}`, { cause });
  }
}

/** Throws a ConfigError with what is wrong with the URL of the mail server, with the certificate and key, the terms, and the logo. */
function openFromFiles(config: Config, log: Log): { readonly transport: MailTransport; readonly pages: Pages } {
  const faults: string[] = [];
  function attempt<T>(variables: string, open: () => T): T | undefined {
    try {
      return open();
    } catch (error) {
      if (!(error instanceof UamError)) throw error;
      faults.push(`${variables}: ${publicMessage(error)}`);
      return undefined;
    }
  }
  const transport = attempt("UAM_SMTP_URL", () => createTransport(config, systemClock));
  const files = tlsFiles(config);
  if (files !== undefined) attempt("UAM_TLS_CERT, UAM_TLS_KEY", () => readTlsPair(files));
  attempt("UAM_TERMS_FILE", termsIn(config.termsFile));
  const pages = attempt("UAM_BRAND_LOGO", () => openPages(config, log));
  if (transport === undefined || pages === undefined || faults.length > 0) throw new ConfigError(faults);
  return { transport, pages };
}

function tlsFiles({ tlsCert: cert, tlsKey: key }: Config): TlsFiles | undefined {
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** On SIGHUP. If the new certificate cannot be used, the service keeps the old one. */
async function reload(server: RunningServer, manager: ServiceManager, log: Log): Promise<void> {
  manager.reloading();
  try {
    const loaded = await server.reload?.();
    if (loaded === undefined) log.info("nothing to reload: no certificate is configured");
    else log.info("the certificate was read again", { validTo: loaded.certificateValidTo.toISOString() });
  } catch (error) {
    log.error("the new certificate cannot be used; the old one stays in use", { error });
  }
  manager.ready(`answers at ${server.address}`);
}
