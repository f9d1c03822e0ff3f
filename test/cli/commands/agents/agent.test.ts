import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { publishedName } from "../../../../src/cli/commands/agents/agent-host.ts";
import { runProgram } from "../../../../src/cli/program.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { readLocks } from "../../../../src/shared/system/lock-journal.ts";
import { type AgentLab, openAgentLab } from "../../../agent/lab.ts";

let lab: AgentLab;
let empty: string;
beforeAll(async () => {
  lab = await openAgentLab();
  empty = mkdtempSync(join(tmpdir(), "uam-cli-agent-"));
});
afterAll(async () => {
  await lab.close();
  rmSync(empty, { recursive: true, force: true });
});

async function run(args: readonly string[], circumstances: object = {}) {
  const written = { out: "", err: "" };
  const code = await runProgram(args, {
    variables: { UAM_DATA_DIR: empty, UAM_DATABASE_URL: "postgres://uam@127.0.0.1:1/uam" },
    ...{ currentDirectory: empty, isRoot: true, invocation: "uam", operator: "olga", isTerminal: false },
    ...{ columns: undefined, runtime: bunRuntime, outStream: async () => {}, readStandardInput: async () => "" },
    ...{ ask: undefined, untilStopped: () => new Promise<void>(() => {}) },
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    ...circumstances,
  });
  return { code, ...written };
}
const here = () => ({ variables: { UAM_DATA_DIR: lab.directory, UAM_DATABASE_URL: "postgres://uam@127.0.0.1:1/uam" } });

describe("uam agent", () => {
  test("join refuses a line that is none, before it looks at anything", async () => {
    expect(await run(["agent", "join", "https://uam.example.org"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("the whole line"),
    });
    const readStandardInput = async () => `https://127.0.0.1:9 uamj_${"a".repeat(40)} SHA256:x\n`;
    expect(await run(["agent", "join", "-"], { readStandardInput })).toMatchObject({
      code: 1,
      err: expect.stringContaining("The last part is not the fingerprint"),
    });
  });

  test("run on a host that has not joined is a fault of configuration", async () => {
    const { code, err } = await run(["agent", "run"]);
    expect([code, err]).toEqual([78, "uam: This host has joined no service: uam agent join LINE\n"]);
  });

  test("publishes its full name, and never one that leads people to their own machine", () => {
    expect(publishedName("web1.example.org", "web")).toBe("web1.example.org");
    for (const full of ["localhost", "localhost.localdomain", "localhost6.localdomain6"]) {
      expect(publishedName(full, "web1.example.org")).toBe("web1.example.org");
    }
    expect(publishedName("localhost.example.org", "web")).toBe("localhost.example.org");
  });

  test("status, hold and leave need root", async () => {
    for (const args of [["status"], ["hold", "1h", "--reason", "x"], ["leave", "--yes"]]) {
      expect(await run(["agent", ...args], { isRoot: false })).toMatchObject({
        code: 1,
        err: "uam: This needs root\n",
      });
    }
  });
});

describe("uam lock on an agent's host", () => {
  test.if(process.platform === "linux")("needs no database, and notes it for the service", async () => {
    const { code, err } = await run(["lock", "alice"], here());
    expect([code, err]).toEqual([
      0,
      `It stays shut here. ${lab.stub.origin} disables the user as soon as it is told.\n`,
    ]);
    expect(readLocks(lab.directory, silentLog)).toMatchObject([{ username: "alice", operator: "olga" }]);
    expect(readdirSync(lab.directory)).not.toContain("postgres");
  });
});

describe("commands of the service on an agent's host", () => {
  test("are refused, and make no database", async () => {
    for (const args of [["user", "list"], ["user", "disable", "alice"], ["migrate"], ["backup", "-"]]) {
      const { code, err } = await run(args, here());
      expect([code, err]).toEqual([1, expect.stringContaining("run the command there")]);
    }
    expect(readdirSync(lab.directory)).not.toContain("postgres");
  });
});

describe("uam doctor on an agent's host", () => {
  test("says whether the service answers and the key is nobody else's", async () => {
    const { out } = await run(["doctor", "--json"], here());
    const findings = JSON.parse(out) as { area: string; state: string; finding: string }[];
    expect(findings[0]?.finding).toContain(`host web1 of ${lab.stub.origin}`);
    expect(findings.find(({ area }) => area === "service")).toMatchObject({ state: "fault" });
    expect(findings.some(({ area }) => area === "database")).toBe(false);
  });
});
