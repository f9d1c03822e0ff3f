import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfigOnHost } from "../../../src/cli/terminal/environment.ts";
import { LOOKS } from "../../../src/shared/work/second-look.ts";

let directory: string;
let shell: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-environment-"));
  shell = join(directory, "shell");
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("loadConfigOnHost", () => {
  const load = (pause: () => Promise<void>, variables: Readonly<Record<string, string>> = {}) => {
    const all = { UAM_DATA_DIR: directory, UAM_SHELL: shell, ...variables };
    return loadConfigOnHost({ variables: all, isRoot: false, currentDirectory: directory }, pause);
  };

  test("loadConfigOnHost() looks again where something is missing, which a package that is being replaced brings back", async () => {
    const config = await load(async () => writeFileSync(shell, "", { mode: 0o755 }));
    expect(config.shell).toBe(shell);
  });

  test("loadConfigOnHost() says so where it stays missing", async () => {
    let pauses = 0;
    const loading = load(async () => {
      pauses++;
    });
    await expect(loading).rejects.toThrow(`UAM_SHELL is ${shell}, which is not a program on this host`);
    expect(pauses).toBe(LOOKS - 1);
  });

  test("loadConfigOnHost() does not wait for a faulty value", async () => {
    writeFileSync(shell, "", { mode: 0o755 });
    const loading = load(() => Promise.reject(new Error("it waits")), { UAM_MAX_KEYS: "0" });
    await expect(loading).rejects.toThrow("UAM_MAX_KEYS must be at least 1");
  });
});
