/** The rules of the structure are held by src, and what is against them is found. */

import { describe, expect, test } from "bun:test";
import { testSlow } from "../support/thorough.ts";
import { findCycle, findings, foreignImports, glances, idleRules, misplacedTests, unnamedSources } from "./findings.ts";
import { MAX_FUNCTION, MAX_LINES } from "./rules.ts";
import { importsOf, readChecker, readSource, readTests, type Source } from "./source.ts";

const source = readSource();

function sourceOf(files: Readonly<Record<string, string>>): Source {
  return new Map(Object.entries(files));
}

describe("src", () => {
  test("keeps the rules", () => {
    expect(source.size).toBeGreaterThan(60);
    expect(importsOf(source).length).toBeGreaterThan(300);
    expect(findings(source)).toEqual([]);
  });

  testSlow("needs all that the rules allow", () => {
    expect(idleRules(source)).toEqual([]);
  });
});

describe("test", () => {
  test("has the folders of src, and tests beside the files that they are named after", () => {
    expect(readTests().size).toBeGreaterThan(300);
    expect(misplacedTests(source, readTests())).toEqual([]);
  });

  test("is found for each file of src: by its name, by what it imports, or in a table", () => {
    expect(unnamedSources(source, readTests())).toEqual([]);
  });

  test("waits for what a page shows", () => {
    expect(glances(readTests())).toEqual([]);
  });
});

describe("the checker of histories", () => {
  test("shares nothing with the program or with what drives it, but the format of the file", () => {
    expect(readChecker().size).toBeGreaterThan(5);
    expect(foreignImports(readChecker())).toEqual([]);
  });

  test.each([
    ["the program", 'import type { Clock } from "../../../../src/shared/time/clock.ts";'],
    ["the driver", 'import { record } from "../driver/record.ts";'],
    ["what tests use", 'const { until } = await import("../../../support/until.ts");'],
    ["a package", 'import postgres from "postgres";'],
  ])("may not import %s", (_, text) => {
    expect(foreignImports(sourceOf({ "long/history/checker/a.ts": text }))).toHaveLength(1);
  });
});

describe("unnamedSources()", () => {
  const files = sourceOf({ "host/a.ts": "", "host/b.ts": "", "host/sshd/c.ts": "", "cli/d.d.ts": "" });
  const tests = sourceOf({ "host/a.host.test.ts": "", "all.test.ts": 'import { b } from "../src/host/b.ts";' });

  test("names a file without a test, once no folder above it has an entry", () => {
    expect(unnamedSources(files, tests, {})).toEqual([
      "src/host/sshd/c.ts: no test has its name or imports it, and TESTED_BY has none",
    ]);
    expect(unnamedSources(files, tests, { host: ["host/a.host.test.ts"] })).toEqual([]);
  });

  test("names entries that nothing needs, and tests that there are not", () => {
    expect(unnamedSources(files, tests, { host: ["all.test.ts"], "host/sshd": ["gone.test.ts"] })).toEqual([
      "TESTED_BY: host needs no entry",
      "TESTED_BY: host/sshd: there is no test/gone.test.ts",
    ]);
  });
});

describe("misplacedTests()", () => {
  const files = sourceOf({ "host/execute/command.ts": "", "host/host.ts": "", "cli/command.ts": "" });
  const found = (tests: Readonly<Record<string, string>>) => misplacedTests(files, sourceOf(tests));

  test("names a test in a folder that src does not have", () => {
    expect(found({ "host/commands/a.test.ts": "" })).toEqual([
      "test/host/commands/a.test.ts: src has no folder host/commands, and no rule names it",
    ]);
  });

  test("names a test that is not beside the file of its name that it imports", () => {
    const text = 'import { run } from "../../src/host/execute/command.ts";';
    expect(found({ "host/command.host.test.ts": text })).toEqual([
      "test/host/command.host.test.ts is about src/host/execute/command.ts: it belongs to test/host/execute",
    ]);
  });

  test("has nothing against tests of a whole room, of several rooms, and at the top", () => {
    const inRoom = 'import { run } from "../../src/host/execute/command.ts";';
    const elsewhere = 'import { run } from "../../src/cli/command.ts";';
    expect(found({ "host/all.test.ts": inRoom, "host/command.test.ts": elsewhere, "docs.test.ts": "" })).toEqual([]);
    expect(found({ "host/execute/command.browser.test.ts": "", "support/fake.test.ts": "" })).toEqual([]);
  });
});

describe("glances()", () => {
  const found = (line: string, path = "console/a.browser.test.ts") => glances(sourceOf({ [path]: line }));

  test("names tests that look at a page once", () => {
    const expected = ["test/console/a.browser.test.ts: count() belongs into soon()"];
    expect(found("expect(await rows.count()).toBe(0);")).toEqual(expected);
    expect(found('expect(await menu.getAttribute("title")).toBeNull();')).toHaveLength(1);
    expect(found('expect(\n  await page.getByText("a").count(),\n).toBe(0);')).toEqual(expected);
  });

  test("has nothing against those that wait, nor against other tests", () => {
    expect(found("await soon(async () => expect(await rows.count()).toBe(0));")).toEqual([]);
    expect(found("expect(await rows.count()).toBe(0);", "console/a.test.ts")).toEqual([]);
  });
});

describe("importsOf()", () => {
  test("reads imports, exports, types and those at run time, and no comments", () => {
    const files = {
      "a/b.ts": '// import "./no.ts";\nimport type {\n  X,\n} from "../c/d.ts";\nexport { y } from "./e.ts";',
      "main.ts": 'const x = await import("./runtime/deno.ts");\nimport "elysia";',
    };
    expect(importsOf(sourceOf(files))).toEqual([
      { from: "a/b.ts", to: "c/d.ts", isOwn: true, isType: true },
      { from: "a/b.ts", to: "a/e.ts", isOwn: true, isType: false },
      { from: "main.ts", to: "runtime/deno.ts", isOwn: true, isType: false },
      { from: "main.ts", to: "elysia", isOwn: false, isType: false },
    ]);
  });
});

describe("findings()", () => {
  const refused: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    [
      "an import that the table does not name",
      { "domain/users/users.ts": 'import { createHost } from "../../host/create-host.ts";' },
      "domain/users/users.ts -> host/create-host.ts: domain may import store/schema.ts, ",
    ],
    [
      "a type from where nothing may come from",
      { "shared/log.ts": 'import type { Config } from "../config/config.ts";' },
      "shared/log.ts -> config/config.ts (types): shared may import shared",
    ],
    ["a folder without a rule", { "new/x.ts": 'import "../shared/log.ts";' }, "no rule covers new/x.ts"],
    [
      "a second place that wires",
      { "server/backup.ts": 'import { openServices } from "./compose.ts";' },
      "server/backup.ts -> server/compose.ts: server/backup.ts may import domain/audit",
    ],
    [
      "a package where it does not belong",
      { "domain/users/users.ts": 'import { Elysia } from "elysia";' },
      "domain/users/users.ts -> elysia: the package elysia belongs to server/api/http",
    ],
    [
      "a part of a package where it does not belong",
      { "server/api/app.ts": 'import { eq } from "drizzle-orm/sql";' },
      "the package drizzle-orm belongs to",
    ],
    [
      "a name without its ending",
      { "shared/a.ts": 'import "./b";' },
      "shared/a.ts -> shared/b: the name has no ending",
    ],
    ["the clock", { "domain/a.ts": "const now = Date.now();" }, 'domain/a.ts: "Date.now" is the clock; only shared'],
    ["the environment", { "host/a.ts": 'const home = process.env["HOME"];' }, "host/a.ts:"],
    ["what is written once", { "host/a.ts": 'const name = "ext_" + user;' }, "only shared/text/account-name.ts may"],
    ["a trick of Elysia", { "server/api/users.ts": "app.derive(() => {});" }, "only server/api/http may"],
    [
      "a function too long",
      { "shared/a.ts": `export function a({\n  b,\n}: C): void {\n${"  b();\n".repeat(MAX_FUNCTION)}}\n` },
      "shared/a.ts: a() has 84 lines; the most is 80",
    ],
    [
      "a method too long",
      { "shared/a.ts": `class A {\n  async #b(): Promise<void> {\n${"    b();\n".repeat(MAX_FUNCTION)}  }\n}\n` },
      "shared/a.ts: #b() has 82 lines; the most is 80",
    ],
    ["a file too long", { "shared/a.ts": "//\n".repeat(MAX_LINES + 1) }, "shared/a.ts has 301 lines; the most is 300"],
    [
      "too many entries",
      Object.fromEntries(Array.from({ length: 18 }, (_, index) => [`folder${index}/a.ts`, ""])),
      "src has 18 entries; the most is 17",
    ],
    [
      "too many files beside each other",
      Object.fromEntries(Array.from({ length: 26 }, (_, index) => [`domain/users/a${index}.ts`, ""])),
      "domain/users has 26 files; the most is 25",
    ],
    [
      "a circle of folders",
      {
        "domain/users/a.ts": 'import "../keys/b.ts";',
        "domain/keys/b.ts": "",
        "domain/keys/c.ts": 'import type { D } from "../users/d.ts";',
        "domain/users/d.ts": "",
      },
      "domain/users -> domain/keys -> domain/users: a circle of folders, types included",
    ],
    [
      "a fault point that the build would not leave out",
      { "shared/a.ts": 'const a = 1; faultPoint("file: removed, not synced");' },
      "is no fault point that the build leaves out",
    ],
    [
      "a cycle of types",
      { "shared/a.ts": 'import type { B } from "./b.ts";', "shared/b.ts": 'import type { A } from "./a.ts";' },
      "shared/a.ts -> shared/b.ts -> shared/a.ts: a cycle, types included",
    ],
  ];

  test.each(refused)("names %s", (_what, files, expected) => {
    expect(findings(sourceOf(files)).join("\n")).toContain(expected);
  });

  test("has nothing against what is allowed", () => {
    const files = {
      "domain/users/users.ts": 'import { users } from "../../store/schema.ts";\nimport { eq } from "drizzle-orm";',
      "store/schema.ts": 'import { id } from "./columns.ts";',
      "store/columns.ts": "// Date.now() is not called here",
    };
    expect(findings(sourceOf(files))).toEqual([]);
  });
});

describe("findCycle()", () => {
  test("gives the files of a cycle and none before it", () => {
    const edge = (from: string, to: string) => ({ from, to });
    expect(findCycle([edge("a", "b"), edge("b", "c"), edge("c", "b")])).toEqual(["b", "c", "b"]);
    expect(findCycle([edge("a", "b"), edge("a", "c"), edge("b", "c")])).toEqual([]);
  });
});
