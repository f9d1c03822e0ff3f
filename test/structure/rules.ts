/**
 * The rules of the structure of src: who may import whom, types included, and what else keeps it one house. They are data;
 * findings.ts holds the files against them, and `bun run check` prints them (run.ts).
 */

/** A folder or a file of src, and what of src it may import. */
export interface Place {
  readonly what: string;
  readonly imports: readonly string[];
}

/** What every place may import. */
export const FOR_ALL = "shared";

/**
 * Folders or single files below src. The longest name that covers a file is its rule, and everything may import what is
 * covered by the same rule, and FOR_ALL. What is not named may not be imported.
 */
export const PLACES: Readonly<Record<string, Place>> = {
  "main.ts": { what: "argv in, exit code out", imports: ["cli", "runtime"] },
  "fetch.ts": {
    what: "the service as a fetch handler, for a server that somebody else runs",
    imports: ["cli", "runtime"],
  },
  shared: { what: "errors, clock, durations, texts: what everybody uses", imports: [] },
  "shared/version.ts": { what: "the version, from package.json", imports: ["package.json"] },
  protocol: { what: "what crosses between service and host, as plain data", imports: [] },
  contract: {
    what: "each route once: who may call it, what it takes, what it answers; for the server, its document and clients",
    imports: ["protocol/fleet.ts"],
  },
  config: { what: "environment variables -> Config", imports: [] },
  domain: {
    what: "what the service decides; it knows its tables, and no host but by the interface in protocol",
    imports: [
      ...[
        "store/schema.ts",
        "store/schema-auth.ts",
        "store/schema-audit.ts",
        "store/schema-sso.ts",
        "store/schema-passkeys.ts",
        "store/schema-events.ts",
        "store/schema-fleet.ts",
        "store/schema-companies.ts",
        "store/schema-reviews.ts",
        "store/schema-service.ts",
      ],
      "store/client.ts",
      ...["store/advisory-locks.ts", "store/notify.ts", "store/json-rows.ts", "store/conditions.ts"],
      "protocol",
    ],
  },
  store: { what: "tables, migrations, the embedded PostgreSQL, backup", imports: ["drizzle"] },
  host: { what: "what happens on an SSH host; it knows no database", imports: ["protocol"] },
  agent: {
    what: "what runs on each further host: follows the service's orders on `host`",
    imports: ["host", "protocol"],
  },
  runtime: { what: "Bun, Deno and the process", imports: ["config"] },
  "server/compose.ts": {
    what: "wires the parts of the service: only this and main.ts do",
    imports: [
      "server/backup.ts",
      "server/host-settings.ts",
      "agent/paths.ts",
      "config",
      "domain",
      "host",
      "protocol",
      "store",
    ],
  },
  "server/host-settings.ts": {
    what: "the configuration -> what a host is told",
    imports: ["config", "host/settings.ts"],
  },
  "server/backup.ts": {
    what: "backup and restore on record, on what compose.ts opens",
    imports: [
      "domain/audit",
      "domain/lifecycle/reopened-by-restore.ts",
      "domain/operation",
      "domain/requests/after-restore.ts",
      "domain/reviews/ask-again.ts",
      "store",
    ],
  },
  "server/logging.ts": { what: "the log's sinks and formats", imports: [] },
  "server/records.ts": {
    what: "what the API and the command line show of stored rows",
    imports: [
      ...["domain", "store/schema.ts", "store/schema-passkeys.ts"],
      ...["server/hours-records.ts", "server/profile-records.ts"],
    ],
  },
  "server/admin-records.ts": {
    what: "the same of administrators",
    imports: ["domain/auth", "domain/operation", "store/schema-sso.ts"],
  },
  "server/hours-records.ts": {
    what: "the same of when users' access is open",
    imports: ["domain/accounts", "domain/users/own-account.ts", "store/schema.ts"],
  },
  "server/audit-records.ts": {
    what: "the same of the audit log, and of the access that it proves",
    imports: ["domain"],
  },
  "server/diagnosis-record.ts": {
    what: "the same of whether a user can log in",
    imports: ["domain"],
  },
  "server/listed-user-record.ts": {
    what: "the same of users in lists",
    imports: ["domain", "server/records.ts", "server/hours-records.ts"],
  },
  "server/found-key-record.ts": { what: "the same of keys in adopted accounts", imports: ["domain/adoption"] },
  "server/event-records.ts": {
    what: "the same of webhooks and the stream of audit records",
    imports: ["domain/events", "store/schema-events.ts"],
  },
  "server/attention-record.ts": {
    what: "the same of what needs somebody",
    imports: ["domain/stats", "server/event-records.ts"],
  },
  "server/import-record.ts": {
    what: "the same of files of users",
    imports: ["domain/users/import"],
  },
  "server/fleet-records.ts": {
    what: "the same of hosts, groups and grants",
    imports: [
      ...["domain", "protocol/profile.ts", "store/schema-fleet.ts"],
      ...["server/hours-records.ts", "server/profile-records.ts"],
    ],
  },
  "server/company-records.ts": {
    what: "the same of companies, and of their people",
    imports: ["domain", "server/hours-records.ts", "server/records.ts"],
  },
  "server/profile-records.ts": {
    what: "the same of profiles, and of how to connect with one",
    imports: ["domain/profiles", "domain/accounts", "protocol/profile-order.ts"],
  },
  "server/review-records.ts": { what: "the same of reviews", imports: ["domain/reviews"] },
  "server/sponsor-records.ts": {
    what: "the same of sponsors and what they are asked",
    imports: ["domain/sponsors", "domain/decisions", "server/records.ts"],
  },
  "server/api": {
    what: "HTTP: the contract's handlers, and in http/, which alone knows Elysia, what surrounds them",
    imports: [
      "server/records.ts",
      "server/admin-records.ts",
      "server/hours-records.ts",
      "server/audit-records.ts",
      "server/diagnosis-record.ts",
      "server/listed-user-record.ts",
      "server/import-record.ts",
      "server/fleet-records.ts",
      "server/company-records.ts",
      "server/review-records.ts",
      "server/profile-records.ts",
      "server/sponsor-records.ts",
      "server/found-key-record.ts",
      "server/event-records.ts",
      "server/attention-record.ts",
      "contract",
      "domain",
      "protocol/fleet.ts",
      "protocol/fleet-signature.ts",
    ],
  },
  "server/sso": { what: "asks the provider of single sign-on, over HTTP", imports: ["domain/auth/sso"] },
  "server/console": { what: "serves the console's pages, scripts and styles", imports: [] },
  console: {
    what: "the browser's pages: a client of the API, of which it knows the types",
    imports: ["contract/contract.ts"],
  },
  "server/jobs": {
    what: "what is done on time: expiry, recycling, reconciling, retention",
    imports: ["server/mail", "domain", "store/job-lock.ts", "protocol"],
  },
  "server/mail": {
    what: "sends what domain/mail queued",
    imports: ["domain/mail", "domain/operation", "store/client.ts", "store/schema.ts", "store/notify.ts"],
  },
  "server/events": {
    what: "what goes out: webhooks, and the stream of audit records",
    imports: [
      ...["server/audit-records.ts", "domain/audit/follow.ts", "domain/events", "domain/operation"],
      ...["store/client.ts", "store/job-lock.ts", "store/schema-audit.ts", "store/schema-events.ts"],
    ],
  },
  "server/metrics": {
    what: "figures for Prometheus",
    imports: ["domain/stats", "domain/events", "domain/hosts", "domain/operation", "protocol/fleet.ts"],
  },
  cli: {
    what: "commands: options in, text and exit code out",
    imports: [
      ...["agent", "config", "doctor", "domain", "install", "protocol", "runtime", "server"],
      ...[
        "store/schema.ts",
        "store/backup",
        "store/postgres/postgres-brought.ts",
        "host/settings.ts",
        "host/command.ts",
        "host/execute/sudo-check.ts",
        "host/execute/sudo-jobs.ts",
        "host/execute/sudo-sessions.ts",
        "host/jobs",
        "host/look.ts",
        "host/profiles/trial",
      ],
    ],
  },
  install: {
    what: "unit, sshd drop-in, sudo rules; these are made from the very commands that sudo mode runs",
    imports: [
      ...["agent/paths.ts", "agent/lease-keeper.ts", "protocol"],
      ...["config", "host/account.ts", "host/reserved-ids.ts", "host/settings.ts", "host/command.ts"],
      ...["host/execute/sudo-commands.ts", "host/execute/sudo-program.ts", "host/execute/sudo-rules.ts"],
      ...["host/sshd/sshd-settings.ts", "host/profiles/names.ts", "host/profiles/sshd-blocks.ts"],
    ],
  },
  doctor: {
    what: "looks at every part, from the outside",
    imports: [
      ...[
        "agent",
        "protocol",
        "domain",
        "host",
        "server/mail",
        "server/console/logo.ts",
        "store/client.ts",
        "store/schema-fleet.ts",
        "store/engine.ts",
        "store/nodes/nodes.ts",
        "store/postgres/postgres-brought.ts",
      ],
      ...["install/settings.ts", "install/sshd-drop-in.ts"],
    ],
  },
  build: {
    what: "makes binary, Debian package, manual page and generated documents; never runs in the service",
    imports: [
      "agent/paths.ts",
      "config",
      "cli/commands.ts",
      "contract",
      "install",
      "server/api/app.ts",
      "server/console",
      "store/postgres",
      "package.json",
    ],
  },
};

/** Packages that only these folders or files may import. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  elysia: ["server/api/http"],
  valibot: ["contract", "server/api/http", "config", "protocol"],
  "@valibot/to-json-schema": ["server/api/http"],
  "drizzle-orm": ["store", "domain", "server/mail", "doctor"],
  postgres: ["store"],
  pg: ["store/backup/copy-client.ts"],
  "pg-copy-streams": ["store/backup/copy-client.ts"],
  croner: ["server/jobs"],
  "prom-client": ["server/metrics"],
  "@optique/core": ["cli", "build/command-pages.ts"],
  // What looks like what is one rule, for the API and the command line alike.
  "fastest-levenshtein": ["shared/text/near-miss.ts", "cli/terminal/suggestion.ts"],
  "string-width": ["cli"],
  "p-limit": ["shared/work/bounded.ts"],
  "@logtape/logtape": ["server/logging.ts"],
  nodemailer: ["server/mail"],
  standardwebhooks: ["server/events"],
  "ipaddr.js": [
    "shared/net/client-address.ts",
    "shared/net/relying-party.ts",
    "domain/auth/sessions/rate-limits.ts",
    "domain/events/address.ts",
  ],
  resend: ["server/mail"],
  "openid-client": ["server/sso"],
  jose: ["server/sso"],
  preact: ["console"],
  "preact-iso": ["console"],
  "@tanstack/preact-query": ["console"],
  "@noble/hashes": ["console"],
  "@simplewebauthn/server": ["domain/auth/factors/webauthn.ts"],
  otpauth: ["domain/auth/factors/totp.ts"],
  uqr: ["domain/auth/factors/totp.ts"],
  bun: ["build"],
};

/** What only some files may use in their code, or is written once; and why these may. */
export interface Word {
  readonly name: string;
  readonly pattern: RegExp;
  readonly allowed: Readonly<Record<string, string>>;
}

export const WORDS: readonly Word[] = [
  {
    name: "Bun and Deno",
    pattern: /\b(?:Bun|Deno)\b(?!")/,
    allowed: {
      "main.ts": "chooses the runtime",
      "fetch.ts": "chooses the runtime",
      runtime: "is the runtime",
      build: "builds with Bun, and never runs in the service",
    },
  },
  {
    name: "process",
    pattern:
      /"node:process"|(?<![\w.])process\.(?:env|argv0?|cwd|exit|exitCode|execPath|kill|get[ug]id|on|once|std\w+|platform|arch|umask)\b/,
    allowed: {
      "main.ts": "argv in, exit code out",
      "fetch.ts": "is the module that a server of somebody else's imports",
      runtime: "is the runtime",
      build: "is a program of its own",
      "shared/work/fault-point.ts": "ends itself for a test; the build leaves it out",
      "store/postgres/postgres-owner.ts": "under whose uid PostgreSQL runs depends on ours",
      "store/postgres/data-lock.ts": "root gives the lock file to the uid PostgreSQL runs under",
      "store/postgres/postgres-files.ts": "unpacks the PostgreSQL of this architecture",
      "store/postgres/postgres-brought.ts": "says which PostgreSQL of this architecture that is",
      "store/postgres/postgres-process.ts": "sends signals",
      "store/backup/backup-program.ts": "ends a program with what it started",
    },
  },
  {
    name: "the environment",
    pattern: /\b(?:process|Bun|Deno|import\.meta)\.env\b|\.variables\.[A-Z]/,
    allowed: {
      "main.ts": "hands it to config/",
      "fetch.ts": "hands it to config/",
      "shared/work/fault-point.ts": "is told by a test, and is no part of the binary",
      "build/console.ts": "tells the libraries of the browser's pages that they are not being developed",
      "build/deb.ts": "DEBFULLNAME and DEBEMAIL are Debian's own, and no settings of the service",
      "build/postgres": "compilers and apt are given the builder's own, and XDG_CACHE_HOME says where caches are",
      "cli/terminal/environment.ts":
        "JOURNAL_STREAM says where standard error goes and is no setting (systemd.exec(5))",
    },
  },
  {
    name: "what is clever about Elysia",
    pattern:
      /\.(?:derive|guard|macro|on(?:Error|BeforeHandle|AfterHandle|Transform|Parse|Request)|mapResponse)\(|\b(?:ParseError|ValidationError|standardHostname)\b/,
    allowed: {
      "server/api/http": "has each trick with its reason; handlers are plain",
    },
  },
  {
    // performance.now() measures durations and tells nobody the time.
    name: "the clock",
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bTemporal\.Now\b/,
    allowed: { "shared/time/clock.ts": "is the clock", "console/ui/clock.ts": "is the browser's" },
  },
  {
    name: "whether systemd is there",
    pattern: /\/run\/systemd\/system/,
    allowed: { "shared/system/systemd.ts": "asks", "build/deb.ts": "the package's scripts are shell" },
  },
  {
    name: "the rule on control characters",
    pattern: /\\p\{Cc\}/,
    allowed: { "shared/text/text.ts": "has the rules on texts" },
  },
  {
    name: "ciphers",
    pattern: /\bcreate(?:De)?[cC]ipheriv\b/,
    allowed: { "domain/auth/sealed.ts": "seals, with a purpose" },
  },
  {
    // Help and messages may say it.
    name: "the prefix of accounts, as a value",
    pattern: /(["'])ext_\1|`ext_\$/,
    allowed: { "shared/text/account-name.ts": "names accounts" },
  },
  {
    name: "the longest period",
    pattern: /\b3_?650d?\b/,
    allowed: { "shared/time/duration.ts": "has it as MAX_DAYS" },
  },
];

/** Folders of tests that src does not have. */
export const TESTS_BESIDE: Readonly<Record<string, string>> = {
  support: "tests what tests use",
  bench: "tests the benchmarks",
  structure: "tests these rules",
  "agent/model": "tests a model of the agent and its service",
  "long/history/checker": "tests the checker of histories",
};

/** What judges the program knows nothing of it: the folder of the checker, below test, and all that it may import. */
export const CHECKER = { folder: "long/history/checker", imports: ["long/history/format.ts"] } as const;

/** Entries that src has at the most: folders and files. */
export const MAX_ENTRIES = 17;
/** Lines that a file of src has at the most. */
export const MAX_LINES = 300;
/** Lines that a function of src has at the most, with those inside it. */
export const MAX_FUNCTION = 80;
/** Files that lie beside each other in a folder of src at the most. */
export const MAX_FILES = 25;
/** Folders whose own folders must not import each other in a circle. */
export const WITHOUT_CIRCLES = ["domain", "domain/auth", "host", "server", "console", "cli", "cli/commands"] as const;
