import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { SERVER_VERSION } from "../../../../src/build/postgres/pinned.ts";
import { createTestCli } from "../../../support/cli.ts";
import { BINARY } from "../../../support/service.ts";

interface Component {
  readonly name: string;
  readonly version: string;
  readonly cpe?: string;
}

describe("uam version --json", () => {
  test("says which PostgreSQL a run from source uses, and that nothing is carried", async () => {
    const cli = await createTestCli();
    const { code, stdout } = await cli.run(["version", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      commit: "source",
      postgresql: { version: expect.stringMatching(/^18\.\d+$/), origin: expect.stringMatching(/^(npm|Debian)'s /) },
      components: [],
    });
    await cli.close();
  });

  test.skipIf(!existsSync(BINARY))("of the binary names what its bill of materials names, PostgreSQL too", () => {
    const { status, stdout } = spawnSync(BINARY, ["version", "--json"], { encoding: "utf8", env: {} });
    expect(status).toBe(0);
    const { postgresql, components } = JSON.parse(stdout);
    expect(postgresql.version).toBe(SERVER_VERSION);
    const bom: { readonly components: readonly Component[] } = JSON.parse(readFileSync(`${BINARY}.cdx.json`, "utf8"));
    const named = (all: readonly Component[]) => all.map(({ name, version, cpe }) => ({ name, version, cpe }));
    expect(named(components)).toEqual(named(bom.components));
    expect(components).toContainEqual(
      expect.objectContaining({ cpe: `cpe:2.3:a:postgresql:postgresql:${SERVER_VERSION}:*:*:*:*:*:*:*` }),
    );
  });
});
