/** Configuration: environment variables -> Config, all faults at once. The variables are in variables.ts. */

import { readFileSync } from "node:fs";
import * as v from "valibot";
import { publicMessage, UamError } from "../shared/errors.ts";
import { passkeyHost } from "../shared/net/relying-party.ts";
import { nearMiss } from "../shared/text/near-miss.ts";
import { formatDuration } from "../shared/time/duration.ts";
import { credentialIn, credentialsIn, SYSTEM_CREDENTIALS } from "./credentials.ts";
import { formatListen } from "./listen.ts";
import { formatSshHost } from "./ssh-host.ts";
import { type Key, VARIABLES, type Value, type Variable } from "./variables.ts";

type Optional =
  | "sshHost"
  | "contact"
  | "brandName"
  | "brandLogo"
  | "termsFile"
  | "databaseUrl"
  | "databaseOwnerUrl"
  | "auditKey"
  | "tlsCert"
  | "tlsKey"
  | "metrics"
  | "smtpUrl"
  | "resendApiKey"
  | "resendBaseUrl"
  | "mailFrom"
  | "oidcIssuer"
  | "oidcClientId"
  | "oidcClientSecret"
  | "oidcRoles"
  | "logFormat"
  | "auditStream"
  | "auditStreamCa"
  | "backupCommand"
  | "backupReadCommand";

/** The configuration in force; durations are milliseconds. */
export type Config = {
  readonly [K in Key]: K extends Optional ? Value<K> | undefined : Value<K>;
};

/** The surroundings that decide some defaults. */
export interface Surroundings {
  readonly isRoot: boolean;
  readonly currentDirectory: string;
  /**
   * Checks that everything the valid values name exists on the host; each fault is a sentence that names the variable.
   */
  readonly lacks?: (values: Partial<Config>) => readonly string[];
}

/** Thrown with every fault at once; the program then ends with exit code 78. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads and checks the configuration. Throws a ConfigError that names every variable at fault; a secret's value is never in it. */
export function readConfig(environment: Environment, surroundings: Surroundings): Config {
  const faults: string[] = [...unknownNames(environment)];
  const values: Record<string, unknown> = {};
  const given = new Set<Key>();
  for (const [key, entry] of Object.entries(VARIABLES) as [Key, Variable<unknown>][]) {
    try {
      if (isGiven(environment, entry)) given.add(key);
      const raw = rawValue(environment, entry) ?? entry.fallback;
      if (raw === undefined) continue;
      const parsed = v.safeParse(entry.schema, raw);
      if (parsed.success) values[key] = parsed.output;
      else faults.push(`${entry.name} ${parsed.issues[0].message}`);
    } catch (error) {
      faults.push(publicMessage(error));
    }
  }
  values.dataDir ??= defaultDataDir(environment, surroundings);
  values.mailLog ??= `${values.dataDir}/mail.log`;
  if (!given.has("baseUrl")) values.baseUrl = ownOrigin(values as Partial<Config>) ?? values.baseUrl;
  faults.push(
    ...contradictions(given),
    ...tooShort(values),
    ...withoutPages(values),
    ...withoutPasskeys(values),
    ...noHostToChange(values),
  );
  faults.push(...(surroundings.lacks?.(values as Partial<Config>) ?? []));
  if (faults.length > 0) throw new ConfigError(faults);
  return values as unknown as Config;
}

/** The address at which this host reaches the service, if that is known and on TCP: it need not be configured twice. */
function ownOrigin({ listen, tlsCert }: Partial<Config>): string | undefined {
  if (listen?.kind !== "tcp" || listen.port === 0) return undefined;
  const anywhere = { "0.0.0.0": "127.0.0.1", "::": "::1" }[listen.hostname];
  const address = formatListen({ ...listen, hostname: anywhere ?? listen.hostname });
  const url = `${tlsCert === undefined ? "http" : "https"}://${address}`;
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/** One line a variable for `uam serve --help`: name, default, meaning. */
export function describeVariables(): readonly {
  readonly name: string;
  readonly fallback: string;
  readonly meaning: string;
}[] {
  return (Object.values(VARIABLES) as Variable<unknown>[]).map((entry) => ({
    name: entry.secret ? `${entry.name}, ${entry.name}_FILE` : entry.name,
    fallback: entry.fallback ?? "unset",
    meaning: entry.meaning,
  }));
}

/** The configuration in force, each value in the form in which it can be set; null: unset. Secrets only show that they are set. */
export function describeConfig(config: Config): Readonly<Record<string, string | null>> {
  const shown: Record<string, string | null> = {};
  for (const [key, entry] of Object.entries(VARIABLES) as [Key, Variable<unknown>][]) {
    const value = config[key];
    shown[entry.name] = value === undefined ? null : entry.secret ? "(set)" : textOf(key, value);
  }
  return shown;
}

const DURATIONS: ReadonlySet<Key> = new Set<Key>([
  "defaultTtl",
  "recyclePeriod",
  "auditRetention",
  "auditRetentionMin",
  "sessionTtl",
  "otpTtl",
  "lockoutPeriod",
  "fleetWait",
  "backupMaxAge",
]);

function textOf(key: Key, value: NonNullable<Config[Key]>): string {
  if (typeof value === "number")
    return !DURATIONS.has(key) ? String(value) : value === 0 ? "off" : formatDuration(value);
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return value;
  if ("first" in value) return `${value.first}-${value.last}`;
  if ("kind" in value) return formatListen(value);
  if ("host" in value) return formatSshHost(value);
  if ("argv" in value) return value.argv.join(" ");
  return value.join(",");
}

/** An empty variable counts as unset. */
function givenValue(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined;
}

function isGiven(environment: Environment, entry: Variable<unknown>): boolean {
  return givenValue(environment, entry.name) !== undefined || (entry.secret && filesOf(environment, entry).length > 0);
}

/** The files that a secret is in, by what names them. */
function filesOf(environment: Environment, { name }: Variable<unknown>): readonly (readonly [string, string])[] {
  const file = givenValue(environment, `${name}_FILE`);
  const credential = credentialIn(environment, name);
  return [
    ...(file === undefined ? [] : [[`${name}_FILE`, file] as const]),
    ...(credential === undefined ? [] : [[`the credential ${name}`, credential] as const]),
  ];
}

function rawValue(environment: Environment, entry: Variable<unknown>): string | undefined {
  const given = givenValue(environment, entry.name);
  const files = entry.secret ? filesOf(environment, entry) : [];
  const names = [...(given === undefined ? [] : [entry.name]), ...files.map(([name]) => name)];
  if (names.length > 1) throw new UamError("invalid", `${names.join(" and ")} are both set; keep one`);
  const [source] = files;
  if (source === undefined) return given;
  const [name, path] = source;
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch {
    const advice = path.startsWith(SYSTEM_CREDENTIALS) ? ", where it is while the service runs" : "";
    throw new UamError("invalid", `${name} names a file that cannot be read: ${path}${advice}`);
  }
}

/** Without this check, a misspelt variable would silently have no effect. */
function unknownNames(environment: Environment): string[] {
  const known = new Set<string>();
  for (const entry of Object.values(VARIABLES) as Variable<unknown>[]) {
    known.add(entry.name);
    if (entry.secret) known.add(`${entry.name}_FILE`);
  }
  const secrets = new Set(Object.values(VARIABLES).flatMap((entry) => (entry.secret ? [entry.name] : [])));
  const advice = (name: string, names: ReadonlySet<string>) => {
    const meant = nearMiss(name, [...names]);
    return meant === undefined ? "see uam serve --help" : `did you mean ${meant}?`;
  };
  return [
    ...Object.keys(environment)
      .filter((name) => name.startsWith("UAM_") && !name.startsWith("UAM_TEST_") && !known.has(name))
      .filter((name) => givenValue(environment, name) !== undefined)
      .map((name) => `${name} is not a variable that uam knows; ${advice(name, known)}`),
    ...credentialsIn(environment)
      .filter((name) => !secrets.has(name as `UAM_${string}`))
      .map((name) => `The credential ${name} is not a secret that uam knows; ${advice(name, secrets)}`),
  ];
}

/** Judges every variable that is set, even one with an invalid value: fixing one fault must not uncover the next. */
function contradictions(given: ReadonlySet<Key>): string[] {
  const faults: string[] = [];
  if (given.has("tlsCert") !== given.has("tlsKey")) faults.push("UAM_TLS_CERT and UAM_TLS_KEY must be set together");
  if (given.has("smtpUrl") && given.has("resendApiKey"))
    faults.push("UAM_SMTP_URL and UAM_RESEND_API_KEY are both set; keep one");
  if ((given.has("smtpUrl") || given.has("resendApiKey")) && !given.has("mailFrom"))
    faults.push("UAM_MAIL_FROM must be set for mail to be sent");
  if (given.has("databaseOwnerUrl") && !given.has("databaseUrl"))
    faults.push("UAM_DATABASE_OWNER_URL is set without UAM_DATABASE_URL");
  if (given.has("backupReadCommand") && !given.has("backupCommand"))
    faults.push("UAM_BACKUP_READ_COMMAND is set without UAM_BACKUP_COMMAND");
  return [...faults, ...halfSingleSignOn(given)];
}

/** The variables that single sign-on needs. */
const OIDC_NEEDS = ["oidcClientId", "oidcClientSecret", "oidcRoles"] as const;

function halfSingleSignOn(given: ReadonlySet<Key>): string[] {
  const isOn = given.has("oidcIssuer");
  const without = isOn ? OIDC_NEEDS.filter((key) => !given.has(key)) : [];
  const alone = isOn ? [] : OIDC_NEEDS.filter((key) => given.has(key));
  return [
    ...without.map((key) => `UAM_OIDC_ISSUER is set without ${VARIABLES[key].name}`),
    ...alone.map((key) => `${VARIABLES[key].name} is set without UAM_OIDC_ISSUER`),
  ];
}

/** The provider sends the browser back to a page. */
function withoutPages({ oidcIssuer, console: pages }: Readonly<Record<string, unknown>>): string[] {
  if (oidcIssuer === undefined || pages !== false) return [];
  return ["UAM_OIDC_ISSUER needs the pages for browsers, which UAM_CONSOLE=off switches off"];
}

/** Nobody could log in. */
function withoutPasskeys({ adminLogin, baseUrl }: Readonly<Record<string, unknown>>): string[] {
  if (adminLogin !== "passkey" || typeof baseUrl !== "string" || passkeyHost(baseUrl) !== undefined) return [];
  return [
    `UAM_ADMIN_LOGIN is passkey, and browsers use passkeys only where UAM_BASE_URL is an https address with a host name, or localhost; it is ${baseUrl}`,
  ];
}

/** Images and environment files set `dry-run` by default, which changes no host either. */
function noHostToChange({ localHost, hostMode }: Readonly<Record<string, unknown>>): string[] {
  if (localHost !== false || (hostMode !== "direct" && hostMode !== "sudo")) return [];
  return [`UAM_HOST_MODE=${hostMode} changes a host, and UAM_LOCAL_HOST=off says that there is none; keep one`];
}

function tooShort({ auditRetention, auditRetentionMin }: Readonly<Record<string, unknown>>): string[] {
  if (typeof auditRetention !== "number" || typeof auditRetentionMin !== "number") return [];
  if (auditRetention >= auditRetentionMin) return [];
  const floor = formatDuration(auditRetentionMin);
  return [`UAM_AUDIT_RETENTION must not be shorter than UAM_AUDIT_RETENTION_MIN (${floor})`];
}

function defaultDataDir(environment: Environment, surroundings: Surroundings): string {
  // systemd gives a colon-separated list; the first is ours.
  const state = environment.STATE_DIRECTORY?.split(":")[0];
  if (state !== undefined && state !== "") return state;
  return surroundings.isRoot ? "/var/lib/uam" : `${surroundings.currentDirectory}/.uam`;
}
