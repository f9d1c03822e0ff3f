/** Composition root: configuration -> database, host, hasher, clock -> services. */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { IDENTITY_FILE } from "../agent/paths.ts";
import type { Config } from "../config/config.ts";
import { findSeal, openSeal } from "../domain/audit/key.ts";
import { createPasswordHasher } from "../domain/auth/administrators/passwords.ts";
import type { Policy, Seal, Services, Site } from "../domain/operation/context.ts";
import { createAdopter } from "../host/adoption/adopter.ts";
import { readAdoptions } from "../host/adoption/record.ts";
import { createHost } from "../host/create-host.ts";
import { readIssuers } from "../host/profiles/attestation-issuers.ts";
import { ABSENT_HOST } from "../protocol/absent-host.ts";
import type { Adopter } from "../protocol/adoption.ts";
import type { AccountRef, Host } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";
import type { Machine } from "../shared/system/kernel.ts";
import { termsIn } from "../shared/text/terms.ts";
import { systemClock } from "../shared/time/clock.ts";
import { isDiskFull, openReserve, type Reserve, reserveIn } from "../shared/work/reserve.ts";
import {
  type ConnectionOptions,
  connectionFailure,
  type Database,
  type DatabaseHandle,
  openDatabase,
} from "../store/client.ts";
import { engineFaults } from "../store/engine.ts";
import { pendingMigrations } from "../store/migrate.ts";
import { MIGRATIONS } from "../store/migrations.ts";
import { openUrl } from "../store/nodes/nodes.ts";
import { hasEmbeddedData, openEmbeddedPostgres } from "../store/postgres/embedded-postgres.ts";
import { SUPERUSER } from "../store/postgres/postgres-cluster.ts";
import { prepareDatabase } from "../store/prepare.ts";
import type { Installation } from "./backup.ts";
import { hostSettingsOf } from "./host-settings.ts";

/** The services, and how to release what they hold. */
export interface ServicesHandle {
  readonly services: Services;
  /** Opens connections for work that must neither wait for those of operations nor make these wait; whoever opens closes them. */
  openMore(connections: number): DatabaseHandle;
  close(): Promise<void>;
}

/** A service keeps its database server running; a command leaves it to whoever else uses it. */
export type Lifetime = "service" | "command";

/** The kind of program that opens the services, and the machine it runs on. */
export interface Use {
  readonly lifetime: Lifetime;
  readonly machine: Machine;
}

/** Connections for operations; each holds one for as long as its transaction takes, and each running job one more (server/jobs/runner.ts). */
const OPERATION_CONNECTIONS = 12;
/** Connections for single statements beside them; see `Services.autocommit`. */
const AUTOCOMMIT_CONNECTIONS = 2;

const RESERVE_GIVEN =
  "the disk of the database is full: a part of its reserve was given up, so that access can be taken away; no access is given until there is room";

const NOT_REPLICATED =
  "a change was committed, but no standby has it: somebody cancelled the wait for one; a failover now would lose it";

const BRING_UP_TO_DATE = 'Run "uam migrate", or start the service; a command that only reads changes nothing.';

/** Opens everything; on return the database is reachable and its schema is this program's. */
export async function openServices(config: Config, log: Log, use: Use): Promise<ServicesHandle> {
  return await openParts(config, log, use, async (db, owner, connection) => {
    // Before the migration, which relies on the locks.
    if (config.databaseUrl !== undefined) await requireEngine(connection, log);
    await prepareDatabase(db, { owner, auditFloor: config.auditRetentionMin, log });
    return await openSeal(db, config);
  });
}

/**
 * Opens everything for reading: nothing is created and nothing stored is changed. Throws `conflict` where there is no database
 * yet, or one that has to be brought up to date first.
 */
export async function openToLook(config: Config, log: Log, machine: Machine): Promise<ServicesHandle> {
  requireData(config);
  return await openParts(config, log, { lifetime: "command", machine }, async (db) => {
    await requireUpToDate(db);
    return await findSeal(db, config);
  });
}

/** Opens only the database for reading, with one connection. Throws as `openToLook` does. */
export async function openDatabaseToLook(config: Config, log: Log): Promise<DatabaseHandle> {
  requireData(config);
  const { connection, stop } = await openServer(config, log, "command");
  const { db, close } = openDatabase(connection, 1);
  const closeAll = async () => {
    await close();
    await stop();
  };
  try {
    await requireUpToDate(db);
    return { db, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Throws `invalid` for a database that does not do what the service relies on. */
async function requireEngine(connection: ConnectionOptions, log: Log): Promise<void> {
  const began = performance.now();
  const faults = await engineFaults(connection);
  log.debug("the database was tried out", { milliseconds: Math.round(performance.now() - began) });
  if (faults.length === 0) return;
  throw new UamError("invalid", faults.map(({ finding, remedy }) => `${finding}: ${remedy}`).join(". "));
}

function requireData(config: Config): void {
  requireNoAgent(config);
  const { databaseUrl, dataDir } = config;
  if (databaseUrl !== undefined || hasEmbeddedData(dataDir)) return;
  throw new UamError("conflict", `There is no database in ${dataDir} yet. ${BRING_UP_TO_DATE}`);
}

/** An agent's host has no database, and must not be given one by a command that was meant for the service. Throws `conflict` there. */
export function requireNoAgent({ dataDir }: Config): void {
  if (!existsSync(join(dataDir, IDENTITY_FILE))) return;
  throw new UamError(
    "conflict",
    "This host has an agent, and its users are stored at its service: run the command there",
  );
}

/** Throws `conflict` for a database that has to be brought up to date, saying how. */
async function requireUpToDate(db: Database): Promise<void> {
  const { length } = await pendingMigrations(db);
  if (length === 0) return;
  const state = length === MIGRATIONS.length ? "has no tables yet" : "is from an older version of uam";
  throw new UamError("conflict", `The database ${state}. ${BRING_UP_TO_DATE}`);
}

/** Opens the database and, once `prepare` has prepared it and returned the seal of its log, the rest. */
async function openParts(
  config: Config,
  log: Log,
  { lifetime, machine }: Use,
  prepare: (db: Database, owner: ConnectionOptions | undefined, connection: ConnectionOptions) => Promise<Seal>,
): Promise<ServicesHandle> {
  const { connection, owner, stop } = await openServer(config, log, lifetime);
  const unreplicated = () => log.error(NOT_REPLICATED);
  const main = openDatabase(connection, OPERATION_CONNECTIONS, { unreplicated });
  const autocommit = openDatabase(connection, AUTOCOMMIT_CONNECTIONS, { unreplicated });
  async function close(): Promise<void> {
    await Promise.all([main.close(), autocommit.close()]);
    await stop();
  }
  // The host is checked meanwhile; a failure counts where it is awaited.
  const host = openHost(config, log, machine);
  host.catch(() => {});
  try {
    const seal = await prepare(main.db, owner, connection);
    const policy = policyOf(config);
    // Once: a file that changes meanwhile counts from the next start on.
    if (lifetime === "service") policy.terms();
    const services = {
      db: main.db,
      autocommit: autocommit.db,
      host: await host,
      adopter: adopterOf(config, log, machine),
      attestationIssuers: () => readIssuers(log),
      clock: systemClock,
      log,
      hasher: createPasswordHasher(),
      seal,
      policy,
      reserve: reserveOf(config, log, machine),
    };
    return { services, openMore: (connections) => openDatabase(connection, connections), close };
  } catch (error) {
    await close();
    const reason = connectionFailure(error);
    if (reason === undefined) throw error;
    throw new UamError("internal", `${whyUnreachable(config)}: ${reason}`, { cause: error });
  }
}

/** A server of ours that lacks room for its write-ahead log ends, and what is left of it is a connection that was cut. */
function whyUnreachable({ databaseUrl, dataDir }: Config): string {
  return databaseUrl === undefined && isDiskFull(reserveIn(dataDir))
    ? `The disk that ${dataDir} is on is full, and the database ended. Make room there, and try again`
    : "The database cannot be reached";
}

/** Only for a database on this machine that is the service's own: what another one does with its disk is its own matter. */
function reserveOf({ databaseUrl, dataDir }: Config, log: Log, machine: Machine): Reserve | undefined {
  if (databaseUrl !== undefined) return undefined;
  const allocate = (descriptor: number, bytes: number) => machine.openKernel().allocate(descriptor, bytes);
  return openReserve(reserveIn(dataDir), allocate, (left) => {
    log.error(RESERVE_GIVEN, { left });
  });
}

/** The operations' settings, taken from the configuration field by field, because it also holds secrets that must not reach them. */
export function policyOf(config: Config): Policy {
  return {
    defaultTtl: config.defaultTtl,
    recyclePeriod: config.recyclePeriod,
    auditRetention: config.auditRetention,
    auditRetentionMin: config.auditRetentionMin,
    maxKeys: config.maxKeys,
    keyTypes: config.keyTypes,
    uidRange: config.uidRange,
    sessionTtl: config.sessionTtl,
    otpTtl: config.otpTtl,
    otpMaxAttempts: config.otpMaxAttempts,
    lockoutThreshold: config.lockoutThreshold,
    lockoutPeriod: config.lockoutPeriod,
    captcha: config.captcha,
    adminLogin: config.adminLogin,
    expiryReminders: config.expiryReminders,
    fleetWait: config.fleetWait,
    backupMaxAge: config.backupMaxAge,
    endSessions: config.revokeEnds === "account" ? "all" : config.revokeEnds,
    site: siteOf(config),
    sendsMail: config.smtpUrl !== undefined || config.resendApiKey !== undefined,
    webhookNetworks: config.webhookNetworks,
    auditStream: config.auditStream,
    sponsor: { mode: config.sponsor, domains: config.sponsorDomains },
    terms: termsIn(config.termsFile),
  };
}

function siteOf({ baseUrl, sshHost, contact, console, localHost, brandName }: Config): Site {
  const host = new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, "$1");
  const elsewhere = localHost || sshHost !== undefined ? {} : { withoutHost: true };
  return { baseUrl, ...(sshHost ?? { host, port: 22 }), ...elsewhere, contact, console, brand: brandName };
}

/** Starts or finds the database server, and says how the service and the owner of its tables connect to it. */
export async function openServer(
  config: Config,
  log: Log,
  lifetime: Lifetime,
): Promise<{ connection: ConnectionOptions; owner: ConnectionOptions | undefined; stop(): Promise<void> }> {
  requireNoAgent(config);
  if (config.databaseUrl !== undefined) {
    const service = openUrl(config.databaseUrl);
    const owner = config.databaseOwnerUrl === undefined ? undefined : openUrl(config.databaseOwnerUrl);
    const stop = async () => {
      service.nodes?.close();
      owner?.nodes?.close();
    };
    return { connection: service, owner, stop };
  }
  mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
  const { connection, stop } = await openEmbeddedPostgres({ dataDir: config.dataDir, log, lifetime });
  return { connection, owner: { ...connection, username: SUPERUSER }, stop };
}

/** The dependencies of backup and restore; each is opened when it is first asked for. */
export function installationOf(config: Config, log: Log, machine: Machine): Installation {
  return {
    dataDir: config.dataDir,
    auditKey: config.auditKey,
    uidRange: config.uidRange,
    openServer: () => openServer(config, log, "command"),
    openHost: () => openHost(config, log, machine),
    openServices: () => openServices(config, log, { lifetime: "command", machine }),
    openToLook: () => openToLook(config, log, machine),
  };
}

/** The host alone, for what must work without the database. */
export async function openHost(config: Config, log: Log, machine: Machine): Promise<Host> {
  if (!config.localHost) return ABSENT_HOST;
  return await createHost(hostSettingsOf(config), log, machine);
}

/** What root does with accounts of this host that the service did not make; undefined where the service changes none as root. */
function adopterOf(config: Config, log: Log, machine: Machine): Adopter | undefined {
  if (!config.localHost || config.hostMode !== "direct") return undefined;
  return createAdopter(hostSettingsOf(config), { log, machine, directory: adoptedIn(config) });
}

/** The adopted accounts by what is written down: known without the database. */
export function adoptedAccounts(config: Config): readonly AccountRef[] {
  return readAdoptions(adoptedIn(config)).map(({ name, uid }) => ({ name, uid }));
}

function adoptedIn({ dataDir }: Config): string {
  return join(dataDir, "adopted");
}
