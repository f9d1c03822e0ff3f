/** The design's rules on who may know whom, held against every file of src. */

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { Glob } from "bun";

/**
 * Who may import whom, types included: folders or single files below src. The longest name that covers a file is its rule,
 * and everything may import what is covered by the same rule. What is not named may not be imported.
 */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["cli", "runtime", "shared/version.ts"],
  "shared/version.ts": ["package.json"],
  shared: [],
  protocol: ["shared"],
  config: ["protocol", "shared"],
  // What the service decides knows its tables, and no host but by the interface.
  domain: ["store/schema.ts", "store/client.ts", "store/locks.ts", "store/notify.ts", "protocol", "shared"],
  store: ["shared", "drizzle"],
  // What happens on an SSH host knows no database.
  host: ["protocol", "shared"],
  runtime: ["config", "shared"],
  // The composition roots: only these and main.ts wire.
  "server/compose.ts": ["config", "domain", "host", "protocol", "shared", "store"],
  "server/backup.ts": ["server/compose.ts", "config", "domain/audit", "domain/operation", "shared", "store"],
  "server/logging.ts": ["shared"],
  // What the API and the command line show of stored rows.
  "server/records.ts": ["domain", "store/schema.ts", "shared"],
  "server/api": ["server/records.ts", "domain", "store/schema.ts", "protocol", "shared"],
  "server/jobs": ["server/mail", "domain", "store/job-lock.ts", "protocol", "shared"],
  "server/mail": ["domain/mail", "domain/operation", "store/schema.ts", "store/notify.ts", "shared"],
  "server/metrics": ["domain/stats", "domain/operation", "shared"],
  cli: [
    ...["config", "doctor", "domain", "install", "protocol", "runtime", "server", "shared"],
    ...["store/schema.ts", "store/backup", "host/settings.ts", "host/execute/command.ts", "host/execute/sudo-check.ts"],
  ],
  // The rules of sudo mode are made from the very commands that it runs.
  install: [
    ...["config", "shared", "host/account.ts", "host/settings.ts", "host/execute/command.ts"],
    ...["host/execute/sudo-commands.ts", "host/execute/sudo-rules.ts"],
  ],
  // Looks at every part, from the outside.
  doctor: [
    ...["domain", "host", "server/mail", "store/client.ts", "shared"],
    ...["install/settings.ts", "install/sshd-drop-in.ts"],
  ],
  // What the program says of itself goes into the manual page and the generated documents.
  build: ["config", "cli/commands.ts", "install", "shared", "store/postgres"],
};

/** Packages that only these folders or files may import. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  elysia: ["server/api"],
  valibot: ["server/api", "config", "protocol"],
  "@valibot/to-json-schema": ["server/api"],
  "drizzle-orm": ["store", "domain", "server/mail", "doctor"],
  postgres: ["store"],
  pg: ["store/backup/copy-client.ts"],
  "pg-copy-streams": ["store/backup/copy-client.ts"],
  croner: ["server/jobs"],
  "prom-client": ["server/metrics"],
  "@optique/core": ["cli", "build/command-pages.ts"],
  // What looks like what is one rule, for the API and the command line alike.
  "fastest-levenshtein": ["shared/near-miss.ts", "cli/suggestion.ts"],
  "string-width": ["cli"],
  "@logtape/logtape": ["server/logging.ts"],
  nodemailer: ["server/mail"],
  resend: ["server/mail"],
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
        "store/postgres/postgres-owner.ts": "under whose uid PostgreSQL runs depends on ours",
        "store/postgres/data-lock.ts": "root gives the lock file to the uid PostgreSQL runs under",
        "store/postgres/postgres-files.ts": "unpacks the PostgreSQL of this architecture",
        "store/postgres/postgres-process.ts": "sends signals",
      },
    },
    {
      name: "the environment",
      pattern: /\b(?:process|Bun|Deno|import\.meta)\.env\b|\.variables\.[A-Z]/,
      allowed: {
        "main.ts": "hands it to config/",
        "build/deb.ts": "DEBFULLNAME and DEBEMAIL are Debian's own, and no settings of the service",
        "cli/environment.ts": "JOURNAL_STREAM says where standard error goes and is no setting (systemd.exec(5))",
      },
    },
    {
      name: "what is clever about Elysia",
      pattern:
        /\.(?:derive|guard|macro|on(?:Error|BeforeHandle|AfterHandle|Transform|Parse|Request)|mapResponse)\(|\b(?:ParseError|ValidationError|standardHostname)\b/,
      allowed: { "server/api/elysia.ts": "has each trick with its reason; routes are plain" },
    },
    {
      // performance.now() measures durations and tells nobody the time.
      name: "the clock",
      pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bTemporal\.Now\b/,
      allowed: { "shared/clock.ts": "is the clock" },
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
    const wrong = imports.filter(({ from, to }) => {
      if (!isOwn(to)) return false;
      const rule = ruleOf(from);
      return rule === undefined || (ruleOf(to) !== rule && !covers(IMPORTS[rule] ?? [], to));
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
    // On the host's side not even that: what plans, changes and looks are told apart by who knows whom.
    const isHost = ({ from, to }: Import) => from.startsWith("host/") && to.startsWith("host/");
    expect(findCycle(imports.filter(isHost))).toEqual([]);
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

/** The longest name in the table that covers the file. */
function ruleOf(path: string): string | undefined {
  return Object.keys(IMPORTS)
    .filter((place) => covers([place], path))
    .sort((a, b) => b.length - a.length)[0];
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
