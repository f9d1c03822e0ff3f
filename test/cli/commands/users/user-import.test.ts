/** uam user import. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
let directory: string;
let path: string;
let count = 0;

beforeAll(async () => {
  cli = await createTestCli();
  directory = mkdtempSync(join(tmpdir(), "uam-import-"));
});
afterAll(async () => {
  await cli.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  path = join(directory, `${++count}.csv`);
});

const write = (...lines: readonly string[]) => writeFileSync(path, `username,email,id\r\n${lines.join("\r\n")}\r\n`);
const said = (stderr: string) => stderr.replace(/^\{.*\n/gm, "");
const isThere = async (name: string) => (await cli.run(["user", "show", name])).code === 0;

describe("uam user import", () => {
  test("says what it would do, and does it once somebody agrees", async () => {
    write("ann,ann@example.org,1", "bo,bo@example.org,2");
    const preview = await cli.run(["user", "import", path, "--preview"]);
    expect(preview).toMatchObject({ code: 0, stdout: "" });
    expect(preview.stderr).toBe("Columns that are not read: id\n2 users: 2 new.\n");
    const no = await cli.run(["user", "import", path], { ask: async () => "n" });
    expect(no.code).toBe(1);
    expect(await isThere("ann")).toBe(false);
    const asked: string[] = [];
    const yes = await cli.run(["user", "import", path], {
      ask: async (question: string) => {
        asked.push(question);
        return "y";
      },
    });
    expect(asked).toEqual(["Create 2 users? [y/N] "]);
    expect(yes.code).toBe(0);
    expect(said(yes.stderr)).toEndWith("2 users created.\n");
    expect(await isThere("bo")).toBe(true);
  });

  test("names each fault with its line, and exits with 1", async () => {
    write("cem,cem@example.org,1", "_,x@example.org,2", "dot,nobody,3");
    const { code, stdout, stderr } = await cli.run(["user", "import", path, "--yes"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^LINE +COLUMN +FAULT\n3 +username +The username must.*\n4 +email +The e-mail must/);
    expect(said(stderr)).toEndWith(
      "3 users: 1 new, 2 with faults.\nA line that has a fault keeps all others from being imported: correct it, or give --only-good for the lines without one.\n",
    );
    expect(await isThere("cem")).toBe(false);
    const good = await cli.run(["user", "import", path, "--yes", "--only-good", "--json"]);
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({ created: 1, items: [{ username: "cem" }], faults: { faulty: 2 } });
    const again = await cli.run(["user", "import", path, "--preview", "--json"]);
    expect(again.code).toBe(1);
    expect(JSON.parse(again.stdout)).toMatchObject({ preview: true, good: 0, faults: { existing: 1, faulty: 2 } });
  });

  test("reads standard input, and does not ask at it", async () => {
    const input = { readStandardInput: async () => "username;email\nstd;std@example.org\n" };
    expect((await cli.run(["user", "import", "-"], { ...input, ask: async () => "y" })).code).toBe(2);
    expect((await cli.run(["user", "import", "-", "--yes"], input)).code).toBe(0);
    expect(await isThere("std")).toBe(true);
    const latin = { readStandardInput: async () => "username,email,supervisor\nlat,l@example.org,\uFFFD\n" };
    expect((await cli.run(["user", "import", "-", "--yes"], latin)).stderr).toContain("not in UTF-8");
  });

  test("tells nobody with --no-mail, and each of them once when asked", async () => {
    write("eve,eve@example.org,1", "fay,fay@example.org,2", "gus,gus@example.org,3");
    expect((await cli.run(["user", "import", path, "--yes", "--no-mail"])).code).toBe(0);
    const pending = async () =>
      (await cli.json(["user", "list", "--welcome", "pending"])).items.map(
        ({ username }: { username: string }) => username,
      );
    expect((await pending()).toSorted()).toEqual(["eve", "fay", "gus"]);
    const one = await cli.run(["user", "welcome", "eve"]);
    expect([one.code, one.stderr]).toEqual([0, "eve is told at eve@example.org.\n"]);
    const again = await cli.run(["user", "welcome", "eve", "nobody", "fay"]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("uam: eve has been welcomed already\n");
    expect(again.stderr).toEndWith("fay is told at fay@example.org.\n");
    expect((await cli.run(["user", "welcome", "--all"])).stderr).toBe(
      "gus is told at gus@example.org.\n1 user told.\n",
    );
    expect(await pending()).toEqual([]);
    expect((await cli.run(["user", "welcome"])).code).toBe(2);
  });

  test("says why a file cannot be read", async () => {
    expect((await cli.run(["user", "import", path, "--preview"])).stderr).toContain(`${path} cannot be read (ENOENT)`);
    expect((await cli.run(["user", "import", directory, "--preview"])).stderr).toContain("is not a file");
    writeFileSync(path, "x".repeat(5 * 1024 * 1024 + 1));
    expect((await cli.run(["user", "import", path, "--preview"])).stderr).toContain("larger than");
    write();
    const { code, stderr } = await cli.run(["user", "import", path]);
    expect([code, stderr]).toEqual([2, "uam: Importing needs --yes if there is no terminal to ask at.\n"]);
  });
});
