import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { whatFailedSaid } from "./failures.ts";

const FILES = {
  "a.test.ts": `import { beforeAll, describe, expect, test } from "bun:test";
    test("fine", () => console.log("the fine one's words"));
    test("wrong", () => { console.log("before it"); expect(1).toBe(2); });
    describe("group", () => { beforeAll(() => { throw new Error("no set-up"); }); test("never", () => {}); });
    test.skip("left out", () => {});`,
  "b.test.ts": `import { test } from "bun:test";
    test("fine too", () => {});
    test("hangs", () => new Promise(() => {}), 20);`,
  "c.test.ts": `import { test } from "bun:test";
    test("ends its worker", () => process.exit(3));`,
};

describe("whatFailedSaid()", () => {
  test("gives the errors of each failed test, and nothing of the others", async () => {
    const failures = whatFailedSaid(await run(FILES));
    const named = (name: string) => failures.filter((said) => said.includes(name));
    expect(named("(fail) wrong")).toEqual([expect.stringMatching(/^test\/a\.test\.ts\n/)]);
    expect(named("(fail) hangs")).toEqual([expect.stringMatching(/\n {2}\^ this test timed out after 20ms\.$/)]);
    expect(named("worker crashed")).toEqual([expect.stringMatching(/^test\/c\.test\.ts\n/)]);
    // Below the name of their test, or after all if they came too late.
    expect(named("error: expect(received).toBe(expected)")).toEqual([
      expect.stringContaining("Expected: 2\nReceived: 1"),
    ]);
    expect(named("error: no set-up")).toHaveLength(1);
    expect(failures.join("\n")).not.toMatch(/^\((pass|skip)|tests failed/m);
  });

  test("gives errors that are said elsewhere", () => {
    const stack = "      at <anonymous> (/x/test/a.test.ts:3:1)";
    const error = `2 | a();\n        ^\nerror: late\n\nReceived: 1\n\n${stack}`;
    const output = `test/a.test.ts:\n(fail) a\n\ntest/b.test.ts:\n${error}\n(pass) b\n`;
    expect(whatFailedSaid(output)).toEqual(["test/a.test.ts\n(fail) a", error]);
    expect(whatFailedSaid(output.replace("(fail)", "(pass)"))).toEqual([]);
  });

  test("keeps what two files say in turns apart, and does not repeat Bun's own list", () => {
    const output = [
      ...[
        "test/a.test.ts:",
        "error: of a",
        "test/b.test.ts:",
        "error: of b",
        "(fail) b",
        "test/a.test.ts:",
        "(fail) a",
      ],
      ...["", "2 tests failed:", "(fail) b", "(fail) a"],
    ].join("\n");
    expect(whatFailedSaid(output)).toEqual([
      "test/b.test.ts\nerror: of b\n(fail) b",
      "test/a.test.ts\nerror: of a\n(fail) a",
    ]);
  });

  test("cuts what a test said at its beginning", () => {
    const [said = ""] = whatFailedSaid(`${"x".repeat(100_000)}\nthe end\n(fail) it`);
    expect(said).toEndWith("the end\n(fail) it");
    expect(said.length).toBeLessThan(9000);
  });
});

/** What `bun test` says of these files, as test/run.ts calls it. */
async function run(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "uam-test-failures-"));
  try {
    for (const [name, text] of Object.entries(files)) await Bun.write(join(directory, "test", name), text);
    writeFileSync(join(directory, "package.json"), "{}");
    const options = ["test", "--parallel=2", "--no-isolate"];
    const argv = ["sh", "-c", 'exec "$@" 2>&1', "sh", process.execPath, ...options];
    return await new Response(Bun.spawn(argv, { cwd: directory }).stdout).text();
  } finally {
    rmSync(directory, { recursive: true });
  }
}
