/** Every environment variable that the program reads: name, default, allowed values, and meaning. */

import * as v from "valibot";
import { KEY_TYPES } from "../shared/product/ssh-key-types.ts";
import { DAY, MINUTE } from "../shared/time/clock.ts";
import { MAX_DAYS } from "../shared/time/duration.ts";
import { listen } from "./listen.ts";
import { SIGN_ON_VARIABLES } from "./sign-on-variables.ts";
import { sshHost } from "./ssh-host.ts";
import {
  absolute,
  auditStream,
  captchaMode,
  count,
  databaseUrl,
  directory,
  duration,
  durationOrOff,
  groupNames,
  list,
  mailAddress,
  mailDomains,
  networks,
  nonEmpty,
  oneLine,
  onOff,
  origin,
  programWords,
  proxies,
  uidRange,
} from "./values.ts";
import { secret, type Variable, variable } from "./variable.ts";

export type { Variable } from "./variable.ts";

/** Every variable the program reads, in the order of help. */
export const VARIABLES = {
  listen: variable("UAM_LISTEN", "127.0.0.1:8080", listen, "address and port, or unix:/path, to listen on"),
  baseUrl: variable(
    "UAM_BASE_URL",
    "http://127.0.0.1:8080",
    origin,
    "the service's own origin, for mails and the Origin check; unset: where UAM_LISTEN is",
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
    "the contact for users: an e-mail address, or a sentence; unset: the administrators of the host",
  ),
  brandName: variable("UAM_BRAND_NAME", undefined, oneLine, "who offers the service; shown on each page"),
  brandLogo: variable(
    "UAM_BRAND_LOGO",
    undefined,
    absolute,
    "its logo, a PNG or WebP file of at most 64 KiB; shown on each page, and read again on SIGHUP",
  ),
  termsFile: variable("UAM_TERMS_FILE", undefined, absolute, "the terms of use, a text; unset: there are none"),
  console: variable(
    "UAM_CONSOLE",
    "on",
    onOff,
    "the pages for browsers; off serves none, and mails show how to do without",
  ),
  dataDir: variable(
    "UAM_DATA_DIR",
    undefined,
    absolute,
    "data directory; else $STATE_DIRECTORY, /var/lib/uam for root, .uam here",
  ),
  databaseUrl: secret(
    "UAM_DATABASE_URL",
    databaseUrl,
    "an external PostgreSQL, with all of its nodes where there are several (docs/high-availability.md); unset: the embedded one",
  ),
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
  localHost: variable(
    "UAM_LOCAL_HOST",
    "on",
    onOff,
    "whether the service manages the host that it runs on; off for a container, or several replicas",
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
  auditStream: variable(
    "UAM_AUDIT_STREAM",
    undefined,
    auditStream,
    "where each audit record is sent: syslog+tls://HOST:PORT, syslog://HOST:PORT or file:/PATH; unset: nowhere",
  ),
  auditStreamCa: variable(
    "UAM_AUDIT_STREAM_CA",
    undefined,
    absolute,
    "certificates, PEM, that the receiver of a syslog+tls stream is verified by; unset: the public ones",
  ),
  webhookNetworks: variable(
    "UAM_WEBHOOK_NETWORKS",
    "",
    networks,
    "networks to which webhooks may go besides public addresses, and without TLS: CIDRs separated by commas",
  ),
  backupCommand: variable(
    "UAM_BACKUP_COMMAND",
    undefined,
    programWords,
    "what `uam backup --send` gives a backup to, on standard input: a program's path and arguments, as in /usr/bin/rclone rcat far:uam/{name}; see docs/backup.md",
  ),
  backupReadCommand: variable(
    "UAM_BACKUP_READ_COMMAND",
    undefined,
    programWords,
    "what gives that backup back, on standard output, to be read again, as in /usr/bin/rclone cat far:uam/{name}",
  ),
  backupMaxAge: variable(
    "UAM_BACKUP_MAX_AGE",
    "2d",
    durationOrOff,
    "how old the newest backup may be before the doctor and the dashboard say so; off if the database is backed up otherwise",
  ),
  defaultTtl: variable("UAM_DEFAULT_TTL", "90d", duration(MAX_DAYS * DAY), "how long a new or extended account lasts"),
  recyclePeriod: variable("UAM_RECYCLE_PERIOD", "30d", duration(MAX_DAYS * DAY), "how long an expired account is kept"),
  auditRetention: variable("UAM_AUDIT_RETENTION", "365d", duration(), "how long audit records are kept"),
  auditRetentionMin: variable(
    "UAM_AUDIT_RETENTION_MIN",
    "30d",
    duration(),
    "the shortest audit retention that administrators may set",
  ),
  smtpUrl: secret(
    "UAM_SMTP_URL",
    v.pipe(v.string(), v.regex(/^smtps?:\/\//, "must begin with smtp:// or smtps://")),
    "SMTP server, smtp://USER:PASSWORD@HOST:PORT",
  ),
  resendApiKey: secret("UAM_RESEND_API_KEY", nonEmpty, "API key of Resend, instead of SMTP"),
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
    "SameSite of the session cookie: Strict, Lax or None",
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
    "addresses or networks of proxies that may set X-Forwarded-For; `unix` for the unix socket",
  ),
  rateLimit: variable("UAM_RATE_LIMIT", "on", onOff, "limits for anonymous requests; off where a proxy limits them"),
  maxBody: variable("UAM_MAX_BODY", "65536", count(1024, 16 * 1024 * 1024), "largest request body in bytes"),
  captcha: variable(
    "UAM_CAPTCHA",
    "both",
    captchaMode,
    "the proof needed for a code to log in: image (a text to read), proof (work for the browser), both (either); off accepts any answer, for tests only",
  ),
  otpTtl: variable("UAM_OTP_TTL", "10m", duration(DAY), "how long a one-time code is valid"),
  otpMaxAttempts: variable("UAM_OTP_MAX_ATTEMPTS", "5", count(1, 100), "wrong answers that void a one-time code"),
  lockoutThreshold: variable(
    "UAM_LOCKOUT_THRESHOLD",
    "5",
    count(1, 100),
    "failed administrator logins that lock a name",
  ),
  lockoutPeriod: variable("UAM_LOCKOUT_PERIOD", "15m", duration(DAY), "how long a lockout lasts"),
  ...SIGN_ON_VARIABLES,
  adminLogin: variable(
    "UAM_ADMIN_LOGIN",
    "any",
    v.picklist(["any", "second-factor", "passkey"], "must be any, second-factor or passkey"),
    "how administrators may log in: any (a password, and a second factor if they have one), second-factor (always one), passkey (nothing else)",
  ),
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
  sponsor: variable(
    "UAM_SPONSOR",
    "optional",
    v.picklist(["off", "optional", "required"], "must be off, optional or required"),
    "whether users have sponsors who answer for them: off, optional, or required (nobody is created, and no application approved, without one)",
  ),
  sponsorDomains: variable(
    "UAM_SPONSOR_DOMAINS",
    "",
    mailDomains,
    "domains that sponsors' addresses may have, with commas; .example.org stands for its subdomains; empty: any",
  ),
  fleetWait: variable(
    "UAM_FLEET_WAIT",
    "5s",
    duration(MINUTE),
    "how long a change that takes access away waits for the hosts with agents to confirm it",
  ),
  revokeEnds: variable(
    "UAM_REVOKE_ENDS",
    "key",
    v.picklist(["key", "account", "none"], "must be key, account or none"),
    "which sessions end when a key is revoked: key (those it opened), account (all) or none",
  ),
  uidRange: variable(
    "UAM_UID_RANGE",
    "65600-99999",
    uidRange,
    "uids for accounts; each is used once, and nobody else may give them out (uam install checks)",
  ),
  homeBase: variable("UAM_HOME_BASE", "/home", directory, "directory that holds the home directories"),
  shell: variable("UAM_SHELL", "/bin/bash", absolute, "login shell of accounts"),
  groups: variable("UAM_GROUPS", "", groupNames, "extra groups of accounts"),
  authorizedKeysFile: variable(
    "UAM_AUTHORIZED_KEYS_FILE",
    "%h/.ssh/authorized_keys",
    v.pipe(v.string(), v.regex(/^(%h\/|\/)[^\0\s]+$/, "must be an absolute path or begin with %h/")),
    "where sshd looks for keys; %h and %u as in sshd",
  ),
} as const;

/** The name of a variable in the program. */
export type Key = keyof typeof VARIABLES;
/** The parsed value of the variable. */
export type Value<K extends Key> = (typeof VARIABLES)[K] extends Variable<infer T> ? T : never;
