/** Checks everything that the service needs to do its work. */

import { givenUidsOf } from "../domain/accounts/uid.ts";
import type { SsoProvider } from "../domain/auth/sso/provider.ts";
import { reconcileHost } from "../domain/lifecycle/reconcile.ts";
import type { Services } from "../domain/operation/context.ts";
import { testFileCommands } from "../host/execute/command-self-test.ts";
import { findSudoFault } from "../host/execute/sudo-program.ts";
import { createTransport, type MailSettings } from "../server/mail/transport.ts";
import { publicMessage } from "../shared/errors.ts";
import type { UidRange } from "../shared/system/uids.ts";
import { systemClock } from "../shared/time/clock.ts";
import { broughtPostgres } from "../store/postgres/postgres-brought.ts";
import { checkAttestation } from "./attestation.ts";
import { checkBackups } from "./backups.ts";
import { checkCarriedPostgres } from "./carried-postgres.ts";
import { checkAdministrators, checkDatabase, checkEngine, checkOutbox, checkSponsors } from "./database.ts";
import {
  checkCertificate,
  checkDataDirectory,
  checkEnvironmentFile,
  checkLogo,
  checkMailLogPlace,
  checkOwnersLimits,
  checkPrivateFile,
  checkReserve,
  checkTerms,
} from "./files.ts";
import { areaOf, type Finding, guarded } from "./finding.ts";
import { checkHosts } from "./hosts.ts";
import { checkInactivity } from "./inactivity.ts";
import { checkOwed } from "./owed.ts";
import { checkNeeds } from "./preflight.ts";
import { checkDisputedPrograms, checkOwnProgram } from "./programs.ts";
import { checkProxies } from "./proxies.ts";
import { checkReceivers } from "./receivers.ts";
import { checkSingleSignOn } from "./single-sign-on.ts";
import { checkSshd, expectationOf } from "./sshd.ts";
import { checkClock, checkService, type ServiceAddress } from "./time.ts";
import { checkGivenUids, checkUidRange } from "./uids.ts";

/** The part of the configuration that is checked here. */
export interface DoctorSettings extends MailSettings {
  readonly hostMode: "dry-run" | "direct" | "sudo";
  /** False where the service manages no host of its own; then nothing of this one is checked. */
  readonly localHost: boolean;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly tlsCert: string | undefined;
  /** The picture that the pages show. */
  readonly brandLogo: string | undefined;
  /** The terms of use. */
  readonly termsFile: string | undefined;
  readonly baseUrl: string;
  readonly trustedProxies: readonly string[];
  /** The environment file of the installation, which need not exist. */
  readonly environmentFile: string;
  readonly authorizedKeysFile: string;
  readonly groups: readonly string[];
  readonly shell: string;
  readonly homeBase: string;
  readonly uidRange: UidRange;
  /** The key file of the audit log, which need not exist. */
  readonly auditKeyFile: string;
}

export interface Examination {
  readonly config: DoctorSettings;
  readonly isRoot: boolean;
  /** Repair what needs no decision: permissions of directories and files, accounts that differ. */
  readonly fix: boolean;
  /** Sentences about what sudo does not allow; undefined outside sudo mode. */
  readonly checkSudo?: () => Promise<readonly string[]>;
  readonly service: ServiceAddress;
  /** The faults of this host's sudo; asked of it by default. */
  readonly sudoFault?: typeof findSudoFault;
  /** Looks for a newer PostgreSQL than the carried one; by default in this machine's package lists. */
  readonly checkCarried?: () => Promise<readonly Finding[]>;
  /** The provider of single sign-on, where one is set up. */
  readonly sso?: SsoProvider | undefined;
  /** Opens the services, or throws saying why that is impossible. */
  readonly open: () => Promise<{ readonly services: Services; close(): Promise<void> }>;
}

/** Without the terminal: it must not be in reach of the service's user. */
const AS_SERVICE = "check it as the service's user, too: setsid -w sudo -u uam uam doctor < /dev/null 2>&1 | cat";
/** The checks that need the database. */
const STORED = [
  "database",
  "service",
  "accounts",
  "uids",
  "closings",
  "backup",
  "events",
  "hosts",
  "administrators",
] as const;

/** Checks everything; what cannot be checked is a fault or skipped, and never prevents the other checks. */
export async function examine(examination: Examination): Promise<readonly Finding[]> {
  const { config, isRoot, fix, checkCarried = () => checkCarriedPostgres(broughtPostgres()) } = examination;
  const stored = await guarded("database", () => checkStored(examination));
  return [
    areaOf("configuration").ok("The configuration is valid"),
    ...(await guarded("data", async () => checkDataDirectory(config.dataDir, fix))),
    ...(config.databaseUrl === undefined ? await guarded("data", async () => checkReserve(config.dataDir)) : []),
    ...(await guarded("data", async () =>
      [config.mailLog, config.auditKeyFile].flatMap((path) => checkPrivateFile(path, fix)),
    )),
    ...(await guarded("data", async () => checkEnvironmentFile(config.environmentFile, fix && isRoot))),
    ...(config.localHost ? await guarded("host", async () => checkNeeds(config)) : []),
    ...(await checkHostMode(examination)),
    ...(config.localHost && config.hostMode === "sudo" ? await guarded("programs", () => checkDisputedPrograms()) : []),
    ...checkOwnProgram(),
    ...(config.databaseUrl === undefined ? await guarded("database", checkCarried) : []),
    ...stored,
    ...(config.hostMode === "dry-run" || !config.localHost
      ? []
      : await guarded("sshd", () => checkSshd(expectationOf(config), { isRoot, fix }))),
    ...keyPlace(config),
    ...(config.hostMode === "dry-run" || !config.localHost
      ? []
      : await guarded("uids", async () => checkUidRange(config.uidRange))),
    ...(config.hostMode === "dry-run" ? [] : await guarded("host", async () => checkOwnersLimits())),
    ...(config.hostMode === "sudo" && isRoot
      ? [areaOf("mail").skipped(`The mail log would become root's; ${AS_SERVICE}`)]
      : await guarded("mail", () => checkMail(config, fix))),
    ...(await guarded("sign-on", () => checkSingleSignOn(examination.sso))),
    ...(await guarded("TLS", async () => checkCertificate(config.tlsCert, systemClock))),
    ...(await guarded("pages", async () => checkLogo(config.brandLogo))),
    ...(await guarded("terms", async () => checkTerms(config.termsFile))),
    ...plainHttp(config.baseUrl),
    ...(config.hostMode === "dry-run" || !config.localHost
      ? []
      : await guarded("proxy", async () => checkProxies(examination.service.address, config.trustedProxies))),
    ...(await guarded("clock", checkClock)),
  ];
}

/** Checks that need the database: itself, the accounts, the mail, the administrators. */
async function checkStored({ config, isRoot, fix, open, service }: Examination): Promise<readonly Finding[]> {
  if (config.hostMode === "direct" && !isRoot) return unseen("In direct mode only root can check this");
  if (config.hostMode === "sudo" && isRoot)
    return unseen(`In sudo mode root does not open the database; ${AS_SERVICE}`);
  if (config.databaseUrl !== undefined) {
    const faults = await checkEngine(config.databaseUrl);
    if (faults.length > 0) return [...faults, ...unseen("The database cannot be used").slice(1)];
  }
  const { services, close } = await open();
  try {
    return [
      ...(await guarded("database", () => checkDatabase(services.db, config.databaseUrl !== undefined))),
      ...(await guarded("service", () => checkService(services, service))),
      ...(config.localHost ? await guarded("accounts", () => checkAccounts(services, config.dataDir, fix)) : []),
      ...(config.localHost && config.hostMode !== "dry-run"
        ? await guarded("uids", async () => checkGivenUids(await givenUidsOf(services.db), config.homeBase))
        : []),
      ...(await guarded("closings", () => checkOwed(services))),
      ...(await guarded("inactivity", () => checkInactivity(services))),
      ...(await guarded("attestation", () => checkAttestation(services))),
      ...(await guarded("backup", () => checkBackups(services, config.hostMode !== "dry-run"))),
      ...(await guarded("events", () => checkReceivers(services))),
      ...(await guarded("hosts", () => checkHosts(services))),
      ...(await guarded("mail", () => checkOutbox(services.db))),
      ...(await guarded("sponsors", () => checkSponsors(services))),
      ...(await guarded("administrators", () => checkAdministrators(services.db))),
    ];
  } finally {
    await close();
  }
}

function unseen(why: string): readonly Finding[] {
  return STORED.map((area) => areaOf(area).skipped(why));
}

async function checkHostMode({
  config,
  isRoot,
  checkSudo,
  sudoFault = findSudoFault,
}: Examination): Promise<readonly Finding[]> {
  const area = areaOf("host");
  if (!config.localHost) return [area.ok("UAM_LOCAL_HOST is off: the service manages no host of its own")];
  if (config.hostMode === "dry-run") return [area.ok("Dry-run: the host is not changed, planned changes are logged")];
  if (config.hostMode === "direct") {
    return isRoot
      ? [area.ok("Direct mode, as root")]
      : [area.fault("Direct mode needs root", "run it with sudo, or set UAM_HOST_MODE")];
  }
  // Named above, with what this host lacks.
  if (sudoFault() !== undefined) return [];
  if (isRoot) return [area.skipped(`Root needs no sudo rules; ${AS_SERVICE}`)];
  return await guarded("host", async () => {
    const faults = (await checkSudo?.()) ?? [];
    const remedy = 'run "uam install --mode sudo" as root, which writes /etc/sudoers.d/uam';
    const programs = await checkFilePrograms();
    return faults.length === 0
      ? [area.ok("Sudo mode: every command is allowed"), ...programs]
      : [...faults.map((fault) => area.fault(fault, remedy)), ...programs];
  });
}

/** Tries the programs that write key files in sudo mode: each distribution chooses its own. */
async function checkFilePrograms(): Promise<readonly Finding[]> {
  const area = areaOf("host");
  const { fault, untried } = await testFileCommands();
  if (untried !== undefined) return [area.skipped(`The programs that write key files could not be tried: ${untried}`)];
  if (fault !== undefined) return [area.fault(fault.finding, fault.remedy)];
  return [area.ok("The programs that write key files do what sudo mode needs")];
}

async function checkAccounts(services: Services, dataDir: string, fix: boolean): Promise<readonly Finding[]> {
  const area = areaOf("accounts");
  const drifts = await reconcileHost(services, dataDir, fix ? "repair" : "check");
  if (drifts.length === 0) return [area.ok("Every account matches what is stored")];
  return drifts.map(({ account, kind, problem, repaired }) => {
    const finding = account === "" ? problem : `${account}: ${problem}`;
    if (repaired) return area.fixed(finding);
    return area.fault(
      finding,
      kind === "missing"
        ? `uam user rebuild ${account} recreates it, uam user delete ${account} removes the user`
        : "uam doctor --fix repairs what needs no decision; see the log for what it cannot repair",
    );
  });
}

async function checkMail(config: DoctorSettings, fix: boolean): Promise<readonly Finding[]> {
  const area = areaOf("mail");
  const isLog = config.smtpUrl === undefined && config.resendApiKey === undefined;
  const place = () => [...checkMailLogPlace(config.mailLog), ...toNobody(config)];
  if (isLog && !fix) return place();
  const transport = createTransport(config, systemClock);
  try {
    await transport.verify();
  } catch (error) {
    return [area.fault(publicMessage(error), "correct UAM_SMTP_URL, UAM_RESEND_API_KEY or UAM_MAIL_LOG")];
  } finally {
    await transport.close();
  }
  return isLog ? place() : [area.ok("The mail service accepts mail")];
}

/** A fault only if the host is changed: then people wait for their codes. */
function toNobody({ hostMode }: DoctorSettings): readonly Finding[] {
  if (hostMode === "dry-run") return [];
  const finding = "Nobody gets mail: codes to log in, invitations and warnings only go to the mail log";
  return [areaOf("mail").note(finding, "set UAM_SMTP_URL or UAM_RESEND_API_KEY; uam otp NAME prints a code meanwhile")];
}

/** Browsers keep the session's cookie, which is `Secure`, over HTTPS and from the machine itself. */
function plainHttp(baseUrl: string): readonly Finding[] {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== "http:" || /^(?:localhost|127\..*|\[::1\])$/.test(hostname)) return [];
  const finding = `UAM_BASE_URL is ${baseUrl}: codes and passwords go over plain HTTP, and browsers keep no session`;
  return [
    areaOf("TLS").note(finding, "set UAM_TLS_CERT and UAM_TLS_KEY, or a proxy with TLS in front, and https:// here"),
  ];
}

/** In sudo mode they cannot be elsewhere: they are written as their owners. */
function keyPlace({ hostMode, authorizedKeysFile, homeBase }: DoctorSettings): readonly Finding[] {
  const isInHome = !authorizedKeysFile.startsWith("/") || authorizedKeysFile.startsWith(`${homeBase}/`);
  if (hostMode !== "direct" || !isInHome) return [];
  const finding = "The key files are in the homes, where their owners can put a revoked key back until it is noticed";
  return [areaOf("sshd").note(finding, "uam install --mode direct --move-keys; logins keep working meanwhile")];
}
