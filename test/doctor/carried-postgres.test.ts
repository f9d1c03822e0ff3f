import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkCarriedPostgres } from "../../src/doctor/carried-postgres.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-carried-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const carried = { version: "18.6", origin: "somebody's" };
const asked = join(top, "asked");

/** apt-cache as Debian's prints it, with these versions in its table. */
function aptCache(...versions: readonly string[]): string {
  const path = join(top, "apt-cache");
  const table = versions.map((version, index) => {
    const mark = index === 0 ? " ***" : "    ";
    return `${mark} ${version} 500\n        500 http://192.0.2.1/debian sid/main amd64 Packages\n`;
  });
  const [candidate = ""] = versions;
  const text =
    versions.length === 0
      ? ""
      : `postgresql-18:\n  Installed: (none)\n  Candidate: ${candidate}\n  Version table:\n${table.join("")}`;
  writeFileSync(path, `#!/bin/sh\necho "$@" > ${asked}\ncat <<'END'\n${text}END\n`);
  chmodSync(path, 0o755);
  return path;
}

const looked = async (...versions: readonly string[]) => await checkCarriedPostgres(carried, aptCache(...versions));

describe("checkCarriedPostgres", () => {
  test("checkCarriedPostgres() notes a newer minor version in the machine's package lists, the newest of them", async () => {
    const findings = await looked("18.5-1", "18.10-1~deb13u1", "18.9-2.pgdg13+1");
    expect(findings).toMatchObject([{ area: "database", state: "note" }]);
    expect(findings[0]?.finding).toBe(
      "The carried PostgreSQL is 18.6 (somebody's), and this machine's package lists have 18.10",
    );
    expect(readFileSync(asked, "utf8")).toBe("policy postgresql-18\n");
  });

  test.each([[["18.6-3"]], [["18.4-1", "18.6-3"]], [["1:18.6-1"]]])(
    "checkCarriedPostgres() has nothing against %p",
    async (versions) => {
      const [finding] = await looked(...versions);
      expect(finding?.state).toBe("ok");
      expect(finding?.finding).toContain("no newer is known here");
    },
  );

  test("checkCarriedPostgres() does not say that none is newer where the machine knows none, or has no apt", async () => {
    for (const findings of [await looked(), await checkCarriedPostgres(carried, join(top, "missing"))]) {
      expect(findings).toMatchObject([{ state: "ok" }]);
      expect(findings[0]?.finding).toEndWith(
        "; whether there is a newer one cannot be told here: no package list has PostgreSQL 18",
      );
    }
  });

  test("checkCarriedPostgres() takes no other major version for a newer one", async () => {
    const [finding] = await looked("19.1-1", "118.9-1");
    expect(finding?.finding).toEndWith("no package list has PostgreSQL 18");
  });
});
