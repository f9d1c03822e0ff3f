/** Configuration: environment variables -> Config. One table holds names, defaults and meanings; help is printed from it. */

import { readFileSync } from "node:fs";
import * as v from "valibot";
import { KEY_TYPES } from "../protocol/ssh-wire.ts";
import { parseTrustedProxies } from "../shared/client-address.ts";
import { DAY } from "../shared/clock.ts";
import { formatDuration, MAX_DAYS, parseDuration } from "../shared/duration.ts";
import { publicMessage, UamError } from "../shared/errors.ts";
import { formatSshHost, sshHost } from "./ssh-host.ts";

/** Where the service listens. */
export type Listen =
  | { readonly kind: "tcp"; readonly hostname: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

const count = (minimum: number, maximum: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, "is not a whole number"),
    v.transform(Number),
    v.minValue(minimum, `must be at least ${minimum}`),
    v.maxValue(maximum, `must be at most ${maximum}`),
  );
const duration = (maximum?: number) =>
  v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return parseDuration(dataset.value, maximum);
      } catch (error) {
        addIssue({ message: `is no usable duration. ${publicMessage(error)}` });
        return NEVER;
      }
    }),
  );
const list = v.pipe(
  v.string(),
  v.transform((value) => value.split(/[\s,]+/).filter((item) => item !== "")),
);
const proxies = v.pipe(
  list,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    try {
      parseTrustedProxies(dataset.value);
    } catch (error) {
      addIssue({ message: `is not usable. ${publicMessage(error)}` });
    }
  }),
);
const databaseUrl = v.pipe(
  v.string(),
  v.regex(/^postgres(ql)?:\/\//, "must begin with postgres://"),
  v.check((value) => URL.canParse(value), "must be a URL such as postgres://USER:PASSWORD@HOST:PORT/DATABASE"),
);
const absolute = v.pipe(v.string(), v.regex(/^\/[^\0]*$/, "must be an absolute path"));
const onOff = v.pipe(
  v.picklist(["on", "off"], 'must be "on" or "off"'),
  v.transform((value) => value === "on"),
);
const origin = v.pipe(
  v.string(),
  v.check((value) => isOrigin(value), "must be an origin such as https://uam.example.org, without a path"),
);
const listen = v.pipe(
  v.string(),
  v.regex(/^(unix:\/.+|[^\s/]+:\d{1,5})$/, "must be ADDRESS:PORT or unix:/PATH"),
  v.check(
    (value) => value.startsWith("unix:") || Number(value.slice(value.lastIndexOf(":") + 1)) < 65_536,
    "has a port above 65535",
  ),
  v.transform((value): Listen => {
    if (value.startsWith("unix:")) return { kind: "unix", path: value.slice(5) };
    const colon = value.lastIndexOf(":");
    return {
      kind: "tcp",
      hostname: value.slice(0, colon).replace(/^\[(.*)\]$/, "$1"),
      port: Number(value.slice(colon + 1)),
    };
  }),
);
const oneLine = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty("is empty"),
  v.maxLength(200, "is longer than 200 characters"),
  v.regex(/^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+$/u, "must be one line of text"),
);
const uidRange = v.pipe(
  v.string(),
  v.regex(/^\d{4,9}-\d{4,9}$/, "must be FIRST-LAST"),
  v.transform((value) => {
    const [first, last] = value.split("-").map(Number) as [number, number];
    return { first, last };
  }),
  v.check(
    (range) => range.first >= 1000 && range.first <= range.last && range.last < 2 ** 31,
    "must be two uids, 1000 or above, the smaller first",
  ),
);
const mailAddress = v.pipe(
  v.string(),
  v.regex(/^(?:[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/, "must be an address or NAME <ADDRESS>"),
);

interface Variable<T> {
  readonly name: `UAM_${string}`;
  /** Undefined: unset unless given. */
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly schema: v.GenericSchema<string, T>;
  /** A secret is hidden when printed, and may be given as NAME_FILE. */
  readonly secret: boolean;
}

function variable<T>(
  name: `UAM_${string}`,
  fallback: string | undefined,
  schema: v.GenericSchema<string, T>,
  meaning: string,
): Variable<T> {
  return { name, fallback, meaning, schema, secret: false };
}

function secret<T>(name: `UAM_${string}`, schema: v.GenericSchema<string, T>, meaning: string): Variable<T> {
  return { name, fallback: undefined, meaning, schema, secret: true };
}

/** Every variable the program reads, in the order of help. */
const VARIABLES = {
  listen: variable("UAM_LISTEN", "127.0.0.1:8080", listen, "address and port, or unix:/path, to listen on"),
  baseUrl: variable(
    "UAM_BASE_URL",
    "http://127.0.0.1:8080",
    origin,
    "the service's own origin, for mails and the Origin check",
  ),
  sshHost: variable(
    "UAM_SSH_HOST",
    undefined,
    sshHost,
    "where users connect with ssh, HOST or HOST:PORT; unset: the host name of UAM_BASE_URL, port 22",
  ),
  contact: variable(
    "UAM_CONTACT",
    undefined,
    oneLine,
    "whom users ask: an e-mail address, or a sentence; unset: the administrators of the host",
  ),
  dataDir: variable(
    "UAM_DATA_DIR",
    undefined,
    absolute,
    "data directory; else $STATE_DIRECTORY, /var/lib/uam for root, .uam here",
  ),
  databaseUrl: secret("UAM_DATABASE_URL", databaseUrl, "an external PostgreSQL; unset: the embedded one"),
  databaseOwnerUrl: secret(
    "UAM_DATABASE_OWNER_URL",
    databaseUrl,
    "the same external PostgreSQL as the role that owns the database, for migrations only; see docs/install.md",
  ),
  auditKey: secret(
    "UAM_AUDIT_KEY",
    v.pipe(
      v.string(),
      v.regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits"),
      v.transform((value): Uint8Array => Buffer.from(value, "hex")),
    ),
    "key that seals the audit log, 64 hexadecimal digits, one for all replicas; unset: audit.key in the data directory",
  ),
  hostMode: variable(
    "UAM_HOST_MODE",
    "dry-run",
    v.picklist(["dry-run", "direct", "sudo"], "must be dry-run, direct or sudo"),
    "how the host is changed: dry-run, direct or sudo",
  ),
  tlsCert: variable("UAM_TLS_CERT", undefined, absolute, "certificate chain, PEM; unset: plain HTTP"),
  tlsKey: variable("UAM_TLS_KEY", undefined, absolute, "private key, PEM"),
  metrics: variable(
    "UAM_METRICS",
    undefined,
    listen,
    "address and port, or unix:/path, of GET /metrics for Prometheus",
  ),
  defaultTtl: variable("UAM_DEFAULT_TTL", "90d", duration(MAX_DAYS * DAY), "how long a new or extended account lasts"),
  recyclePeriod: variable("UAM_RECYCLE_PERIOD", "30d", duration(MAX_DAYS * DAY), "how long an expired account is kept"),
  auditRetention: variable("UAM_AUDIT_RETENTION", "365d", duration(), "how long audit records are kept"),
  auditRetentionMin: variable(
    "UAM_AUDIT_RETENTION_MIN",
    "30d",
    duration(),
    "the shortest time that administrators may have audit records kept for",
  ),
  smtpUrl: secret(
    "UAM_SMTP_URL",
    v.pipe(v.string(), v.regex(/^smtps?:\/\//, "must begin with smtp:// or smtps://")),
    "SMTP server, smtp://USER:PASSWORD@HOST:PORT",
  ),
  resendApiKey: secret(
    "UAM_RESEND_API_KEY",
    v.pipe(v.string(), v.nonEmpty("is empty")),
    "API key of Resend, instead of SMTP",
  ),
  resendBaseUrl: variable(
    "UAM_RESEND_BASE_URL",
    undefined,
    v.pipe(v.string(), v.url("must be a URL")),
    "another address of the Resend API",
  ),
  mailFrom: variable("UAM_MAIL_FROM", undefined, mailAddress, "sender of all mail; required with SMTP or Resend"),
  mailLog: variable(
    "UAM_MAIL_LOG",
    undefined,
    absolute,
    "file that mail is written to without SMTP or Resend; else mail.log in the data directory",
  ),
  logFormat: variable(
    "UAM_LOG_FORMAT",
    undefined,
    v.picklist(["json", "pretty"], "must be json or pretty"),
    "json, or pretty (the default on a terminal)",
  ),
  logLevel: variable(
    "UAM_LOG_LEVEL",
    "info",
    v.picklist(["debug", "info", "warn", "error"], "must be debug, info, warn or error"),
    "debug, info, warn or error",
  ),
  sessionTtl: variable("UAM_SESSION_TTL", "12h", duration(30 * DAY), "lifetime of a session"),
  cookieSameSite: variable(
    "UAM_COOKIE_SAMESITE",
    "Strict",
    v.picklist(["Strict", "Lax", "None"], "must be Strict, Lax or None"),
    "SameSite of the session cookie",
  ),
  corsOrigins: variable(
    "UAM_CORS_ORIGINS",
    "",
    v.pipe(list, v.array(origin)),
    "origins that browsers may call from, separated by commas",
  ),
  trustedProxies: variable(
    "UAM_TRUSTED_PROXIES",
    "",
    proxies,
    "addresses or networks whose X-Forwarded-For counts; `unix` for the unix socket",
  ),
  rateLimit: variable("UAM_RATE_LIMIT", "on", onOff, "off for those who limit anonymous requests in front"),
  maxBody: variable("UAM_MAX_BODY", "65536", count(1024, 16 * 1024 * 1024), "largest request body in bytes"),
  captcha: variable("UAM_CAPTCHA", "on", onOff, "off accepts any captcha answer; for tests only"),
  otpTtl: variable("UAM_OTP_TTL", "10m", duration(DAY), "how long a one-time code is valid"),
  otpMaxAttempts: variable("UAM_OTP_MAX_ATTEMPTS", "5", count(1, 100), "wrong answers that void a one-time code"),
  lockoutThreshold: variable(
    "UAM_LOCKOUT_THRESHOLD",
    "5",
    count(1, 100),
    "failed administrator logins that lock a name",
  ),
  lockoutPeriod: variable("UAM_LOCKOUT_PERIOD", "15m", duration(DAY), "how long a lock-out lasts"),
  keyTypes: variable(
    "UAM_KEY_TYPES",
    KEY_TYPES.join(","),
    v.pipe(list, v.array(v.picklist(KEY_TYPES, `may hold only ${KEY_TYPES.join(", ")}`)), v.minLength(1, "is empty")),
    "accepted key types",
  ),
  maxKeys: variable("UAM_MAX_KEYS", "50", count(1, 1000), "active keys a user may have"),
  expiryReminders: variable(
    "UAM_EXPIRY_REMINDERS",
    "14,7,1",
    v.pipe(list, v.array(count(1, 365))),
    "days before expiry on which a user is reminded",
  ),
  revokeEnds: variable(
    "UAM_REVOKE_ENDS",
    "key",
    v.picklist(["key", "account", "none"], "must be key, account or none"),
    "which sessions end when a key is revoked",
  ),
  uidRange: variable("UAM_UID_RANGE", "20000-59999", uidRange, "uids for accounts; each is used once"),
  homeBase: variable("UAM_HOME_BASE", "/home", absolute, "directory of the home directories"),
  shell: variable("UAM_SHELL", "/bin/bash", absolute, "login shell of accounts"),
  groups: variable(
    "UAM_GROUPS",
    "",
    v.pipe(list, v.array(v.pipe(v.string(), v.regex(/^[a-z_][a-z0-9_-]{0,31}$/, "has a name that is no group's")))),
    "extra groups of accounts",
  ),
  authorizedKeysFile: variable(
    "UAM_AUTHORIZED_KEYS_FILE",
    "%h/.ssh/authorized_keys",
    v.pipe(v.string(), v.regex(/^(%h\/|\/)[^\0\s]+$/, "must be an absolute path or begin with %h/")),
    "where sshd looks for keys; %h and %u as in sshd",
  ),
} as const;

type Key = keyof typeof VARIABLES;
type Value<K extends Key> = (typeof VARIABLES)[K] extends Variable<infer T> ? T : never;
type Optional =
  | "sshHost"
  | "contact"
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
  | "logFormat";

/** The configuration in force; durations are milliseconds. */
export type Config = {
  readonly [K in Key]: K extends Optional ? Value<K> | undefined : Value<K>;
};

/** What of the surroundings decides a default. */
export interface Surroundings {
  readonly isRoot: boolean;
  readonly currentDirectory: string;
  /** Looks whether the host has what the values that can be used name; a fault is a sentence that names the variable. */
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
  faults.push(...contradictions(given), ...tooShort(values));
  faults.push(...(surroundings.lacks?.(values as Partial<Config>) ?? []));
  if (faults.length > 0) throw new ConfigError(faults);
  return values as unknown as Config;
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

/** The configuration in force, each value as it could be set again; null: unset. Secrets are only said to be set. */
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
]);

function textOf(key: Key, value: NonNullable<Config[Key]>): string {
  if (typeof value === "number") return DURATIONS.has(key) ? formatDuration(value) : String(value);
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return value;
  if ("first" in value) return `${value.first}-${value.last}`;
  if ("kind" in value) return formatListen(value);
  if ("host" in value) return formatSshHost(value);
  return value.join(",");
}

/** The address as `UAM_LISTEN` takes it. */
export function formatListen(listen: Listen): string {
  if (listen.kind === "unix") return `unix:${listen.path}`;
  return `${listen.hostname.includes(":") ? `[${listen.hostname}]` : listen.hostname}:${listen.port}`;
}

/** An empty variable is as if it were not set. */
function givenValue(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined;
}

function isGiven(environment: Environment, { name, secret: isSecret }: Variable<unknown>): boolean {
  const names = isSecret ? [name, `${name}_FILE`] : [name];
  return names.some((candidate) => givenValue(environment, candidate) !== undefined);
}

function rawValue(environment: Environment, entry: Variable<unknown>): string | undefined {
  const given = givenValue(environment, entry.name);
  const file = entry.secret ? givenValue(environment, `${entry.name}_FILE`) : undefined;
  if (file === undefined) return given;
  if (given !== undefined) throw new UamError("invalid", `${entry.name} and ${entry.name}_FILE are both set; keep one`);
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch {
    throw new UamError("invalid", `${entry.name}_FILE names a file that cannot be read: ${file}`);
  }
}

/** A misspelt name would otherwise be a setting that is silently not in force. */
function unknownNames(environment: Environment): string[] {
  const known = new Set<string>();
  for (const entry of Object.values(VARIABLES) as Variable<unknown>[]) {
    known.add(entry.name);
    if (entry.secret) known.add(`${entry.name}_FILE`);
  }
  return Object.keys(environment)
    .filter((name) => name.startsWith("UAM_") && !name.startsWith("UAM_TEST_") && !known.has(name))
    .filter((name) => givenValue(environment, name) !== undefined)
    .map((name) => `${name} is not a variable that uam knows; see uam serve --help`);
}

/** Of what is given, whether or not its value can be used: whoever mends one fault must not meet the next. */
function contradictions(given: ReadonlySet<Key>): string[] {
  const faults: string[] = [];
  if (given.has("tlsCert") !== given.has("tlsKey")) faults.push("UAM_TLS_CERT and UAM_TLS_KEY must be set together");
  if (given.has("smtpUrl") && given.has("resendApiKey"))
    faults.push("UAM_SMTP_URL and UAM_RESEND_API_KEY are both set; keep one");
  if ((given.has("smtpUrl") || given.has("resendApiKey")) && !given.has("mailFrom"))
    faults.push("UAM_MAIL_FROM must be set for mail to be sent");
  if (given.has("databaseOwnerUrl") && !given.has("databaseUrl"))
    faults.push("UAM_DATABASE_OWNER_URL is set without UAM_DATABASE_URL");
  return faults;
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

function isOrigin(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value;
}
