/** The design's rules on who may know whom, held against every file of src. */

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { Glob } from "bun";

/** Folders or single files; `types` may be imported as types only. */
interface Rule {
  readonly values: readonly string[];
  readonly types?: readonly string[];
}

/** Features know the schema, how a duplicate looks, and the outbox, whose rows are part of their transactions. */
const FEATURE: Rule = {
  values: ["core", "db/schema.ts", "db/client.ts", "mail/outbox.ts", "mail/messages.ts"],
  types: ["host/host.ts", "mail"],
};

function feature(...others: readonly string[]): Rule {
  return { ...FEATURE, values: [...FEATURE.values, ...others] };
}

const FEATURES = ["users", "keys", "approvals", "audit", "settings", "stats", "auth", "lifecycle"];

/** Who may import whom; what is not here may import nothing of another folder. */
const IMPORTS: Readonly<Record<string, Rule>> = {
  "main.ts": { values: ["cli", "runtime", "version.ts"] },
  cli: {
    values: [
      ...FEATURES,
      "core",
      "http",
      "jobs",
      "install",
      "doctor",
      "metrics",
      "config.ts",
      "services.ts",
      "backup.ts",
      "logging.ts",
      "records.ts",
      "version.ts",
      "host/command.ts",
      "host/settings.ts",
      "host/sudo-check.ts",
      "mail/transport.ts",
      "runtime/tls.ts",
      "runtime/under-way.ts",
    ],
    types: ["runtime", "host", "db", "mail"],
  },
  http: { values: [...FEATURES, "core", "db/schema.ts", "records.ts"] },
  // What clients and the command line show of stored rows.
  "records.ts": { values: [...FEATURES, "core"], types: ["db/schema.ts"] },
  jobs: { values: [...FEATURES, "core", "db/job-lock.ts", "mail/delivery.ts"], types: ["host/host.ts", "mail"] },
  // A second, smaller composition root: the database without its pool, the host, and the audit key.
  "backup.ts": { values: ["audit", "core", "db", "services.ts", "version.ts"], types: ["config.ts"] },
  "services.ts": { values: [...FEATURES, "core", "db", "host", "mail"], types: ["config.ts"] },
  "config.ts": { values: ["core", "keys/wire.ts", "keys/public-key.ts"] },
  "logging.ts": { values: ["core"] },
  core: { values: [], types: ["db/client.ts", "db/schema.ts", "host/host.ts", "keys/wire.ts"] },
  // The cycle of folders is none of files: users/find.ts and username.ts know nobody.
  keys: feature("users/find.ts", "users/username.ts"),
  users: feature("keys", "settings"),
  approvals: feature("users"),
  // Cleaning up is each one's own affair; when, is decided here.
  lifecycle: feature("users", "keys", "settings", "audit", "auth"),
  audit: feature("users/find.ts"),
  auth: feature("users/find.ts", "users/username.ts"),
  settings: feature(),
  stats: feature("settings"),
  host: { values: ["core"] },
  mail: { values: ["core", "db/schema.ts", "db/notify.ts", "db/client.ts"] },
  db: { values: ["core", "drizzle"] },
  runtime: { values: ["core"], types: ["config.ts"] },
  // The rules of sudo mode are made from the very commands that it runs.
  install: {
    values: [
      "core",
      "config.ts",
      "host/account.ts",
      "host/command.ts",
      "host/settings.ts",
      "host/sudo-commands.ts",
      "host/sudo-rules.ts",
    ],
  },
  // Looks at every part, from the outside.
  doctor: {
    values: ["core", "lifecycle", "host", "mail", "install/settings.ts", "install/sshd-drop-in.ts"],
    types: ["db/client.ts"],
  },
  metrics: { values: ["stats"], types: ["core"] },
  build: { values: ["core", "db", "install", "config.ts", "version.ts"] },
  "version.ts": { values: ["package.json"] },
};

/** Packages that only these folders or files may import. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  elysia: ["http"],
  valibot: ["http", "config.ts"],
  "@valibot/to-json-schema": ["http"],
  "drizzle-orm": ["db", "core/append.ts", "mail", "doctor", ...FEATURES],
  postgres: ["db"],
  pg: ["db/copy-client.ts"],
  "pg-copy-streams": ["db/copy-client.ts"],
  croner: ["jobs"],
  "prom-client": ["metrics"],
  "@optique/core": ["cli"],
  "@logtape/logtape": ["logging.ts"],
  nodemailer: ["mail"],
  resend: ["mail"],
  bun: ["build"],
};

/** Words that only some files may use, and why these may. */
const WORDS: readonly { readonly name: string; readonly pattern: RegExp; readonly allowed: Record<string, string> }[] =
  [
    {
      name: "Bun and Deno",
      pattern: /\b(?:Bun|Deno)\b(?!")/,
      allowed: {
        "main.ts": "chooses the runtime",
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
        runtime: "is the runtime",
        build: "is a program of its own",
        "db/postgres-owner.ts": "under whose uid PostgreSQL runs depends on ours",
        "db/data-lock.ts": "root gives the lock file to the uid PostgreSQL runs under",
        "db/postgres-files.ts": "unpacks the PostgreSQL of this architecture",
        "db/postgres-process.ts": "sends signals",
      },
    },
    {
      name: "the environment",
      pattern: /\b(?:process|Bun|Deno|import\.meta)\.env\b|\.variables\.[A-Z]/,
      allowed: {
        "main.ts": "hands it to config.ts",
        "build/deb.ts": "DEBFULLNAME and DEBEMAIL are Debian's own, and no settings of the service",
        "cli/environment.ts": "JOURNAL_STREAM says where standard error goes and is no setting (systemd.exec(5))",
      },
    },
    {
      // performance.now() measures durations and tells nobody the time.
      name: "the clock",
      pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bTemporal\.Now\b/,
      allowed: { "core/clock.ts": "is the clock" },
    },
  ];

interface Import {
  readonly from: string;
  /** A path below src for our own files, "../" for those beside it, else the package. */
  readonly to: string;
  readonly isType: boolean;
}

const root = join(import.meta.dir, "../src");
const files = new Map([...new Glob("**/*.ts").scanSync(root)].sort().map((file) => [file, codeOf(file)] as const));
const imports = [...files].flatMap(([file, code]) => importsOf(file, code));

describe("imports", () => {
  test("are found at all", () => {
    expect(files.size).toBeGreaterThan(60);
    expect(imports.length).toBeGreaterThan(300);
    expect(importsOf("a/b.ts", 'import type {\n  X,\n} from "../c/d.ts";\nexport { y } from "./e.ts";')).toEqual([
      { from: "a/b.ts", to: "c/d.ts", isType: true },
      { from: "a/b.ts", to: "a/e.ts", isType: false },
    ]);
    expect(importsOf("main.ts", 'const x = await import("./runtime/deno.ts");\nimport "elysia";')).toEqual([
      { from: "main.ts", to: "runtime/deno.ts", isType: false },
      { from: "main.ts", to: "elysia", isType: false },
    ]);
  });

  test("between folders are those of the table", () => {
    const wrong = imports.filter(({ from, to, isType }) => {
      if (!isOwn(to) || folderOf(from) === folderOf(to)) return false;
      const rule = IMPORTS[folderOf(from)];
      return !(covers(rule?.values ?? [], to) || (isType && covers(rule?.types ?? [], to)));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("of packages are where they belong", () => {
    const wrong = imports.filter(({ from, to }) => {
      const name = Object.keys(PACKAGES).find((known) => to === known || to.startsWith(`${known}/`));
      return name !== undefined && !isOwn(to) && !covers(PACKAGES[name] ?? [], from);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  test("name files with their endings, so that every runtime finds them", () => {
    expect(imports.filter(({ to }) => isOwn(to) && !/\.(ts|sql|json)$/.test(to)).map(show)).toEqual([]);
  });

  test("make no cycle", () => {
    // Types are gone when the program runs: two files may well name each other's.
    expect(findCycle(imports.filter(({ to, isType }) => files.has(to) && !isType))).toEqual([]);
    const edge = (from: string, to: string): Import => ({ from, to, isType: false });
    expect(findCycle([edge("a", "b"), edge("b", "c"), edge("c", "b")])).toEqual(["b", "c", "b"]);
  });
});

describe.each([...WORDS])("$name", ({ pattern, allowed }) => {
  test("is named only where it must be", () => {
    const wrong = [...files].filter(([file, code]) => pattern.test(code) && !covers(Object.keys(allowed), file));
    expect(wrong.map(([file]) => file)).toEqual([]);
  });

  test("is still named in each file that is excepted", () => {
    const used = [...files].filter(([, code]) => pattern.test(code)).map(([file]) => file);
    const idle = Object.keys(allowed).filter((place) => !used.some((file) => covers([place], file)));
    // The runtimes are told by their own globals alone.
    expect(idle.filter((place) => place !== "runtime")).toEqual([]);
  });
});

/** The file without its comments; texts stay, for imports are in them. */
function codeOf(file: string): string {
  const text = readFileSync(join(root, file), "utf8");
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}

function importsOf(file: string, code: string): readonly Import[] {
  const statements = /^(?:import|export)\s+(type\s)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;
  return [...code.matchAll(statements)].map((match) => {
    const name = match[2] ?? match[3] ?? "";
    const to = name.startsWith(".") ? posix.join(posix.dirname(file), name) : name;
    return { from: file, to, isType: match[1] !== undefined };
  });
}

function isOwn(to: string): boolean {
  return files.has(to) || to.startsWith("../");
}

/** The folder below src, or the file right in it; beside src, the folder or file there. */
function folderOf(path: string): string {
  return path.replace(/^\.\.\//, "").split("/")[0] ?? "";
}

function covers(places: readonly string[], path: string): boolean {
  const plain = path.replace(/^\.\.\//, "");
  return places.some((place) => plain === place || plain.startsWith(`${place}/`));
}

/** The files of one cycle, or none. */
function findCycle(edges: readonly Import[]): readonly string[] {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): readonly string[] {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const { from, to } of edges) {
      if (from !== file) continue;
      const cycle = visit(to, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  }
  for (const { from } of edges) {
    const cycle = visit(from, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

function show({ from, to, isType }: Import): string {
  return `${from} -> ${to}${isType ? " (types)" : ""}`;
}
