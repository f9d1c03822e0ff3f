/** The service as a process of its own, agents over the wire, and changes by commands in other processes. */

import { afterAll, beforeAll, expect } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readConfig } from "../../src/config/config.ts";
import { systemContext } from "../../src/domain/operation/context.ts";
import { createJoinToken } from "../../src/domain/wire/join-tokens.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { openServices } from "../../src/server/compose.ts";
import { silentLog } from "../../src/shared/log.ts";
import { createAgent, type TestAgent } from "../support/agent.ts";
import { databaseDirectory } from "../support/directory.ts";
import { SHORT_HANG } from "../support/hang.ts";
import { type Service, startProgram } from "../support/service.ts";
import { testSlow } from "../support/thorough.ts";

const directory = databaseDirectory("uam-test-agents-");
const program = [process.execPath, join(import.meta.dir, "../../src/main.ts")];
let service: Service;

beforeAll(async () => {
  service = await startProgram(program, directory, { UAM_HOST_MODE: "dry-run", UAM_FLEET_WAIT: "3s" });
}, 180_000);
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true });
});

function run(...args: string[]) {
  const { status, stdout, stderr } = service.run(args);
  if (status !== 0) throw new Error(`uam ${args.join(" ")}: ${stderr}`);
  return { stdout, stderr };
}

async function joined(name: string): Promise<TestAgent> {
  const agent = createAgent(reach, await keyOf(), name);
  const environment = { UAM_DATA_DIR: join(directory, "data"), UAM_HOST_MODE: "dry-run", UAM_BASE_URL: service.origin };
  const config = readConfig(environment, { isRoot: true, currentDirectory: "/" });
  const handle = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
  try {
    const { line } = await createJoinToken(systemContext(handle.services), { name, group: "default" });
    expect((await agent.enrol(line.split(" ")[1] ?? "")).status).toBe(201);
  } finally {
    await handle.close();
  }
  return agent;
}

const reach = (target: string, init: RequestInit) => fetch(`${service.origin}/api/v1${target}`, init);

testSlow(
  "a command in another process wakes the agent, waits for it, and says what became of it",
  async () => {
    run("user", "create", "ada", "--email", "ada@example.org");
    const agent = await joined("wire1");
    expect((await agent.state()).accounts.map(({ name }) => name)).toEqual(["ext_ada"]);
    await agent.report();
    const held = agent.state(50).then(async (state) => {
      await agent.report();
      return state;
    });
    await Bun.sleep(300);
    // The command holds up this process, which is the agent's too: it has to be another.
    const child = Bun.spawn([...program, "user", "disable", "ada"], {
      env: {
        ...process.env,
        UAM_DATA_DIR: join(directory, "data"),
        UAM_BASE_URL: service.origin,
        UAM_HOST_MODE: "dry-run",
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    const began = performance.now();
    expect((await held).accounts).toMatchObject([{ name: "ext_ada", open: false }]);
    expect(performance.now() - began).toBeLessThan(SHORT_HANG);
    expect(await child.exited).toBe(0);
    expect(await new Response(child.stderr).text()).toContain("1 further host confirmed it.");

    // Cut off: it is named, and until when.
    const enabled = run("user", "enable", "ada");
    expect(enabled.stdout).toContain("active");
    const late = run("user", "disable", "ada", "--json");
    expect(JSON.parse(late.stdout).hosts).toMatchObject({ total: 1, confirmed: 0, pending: ["wire1"] });
  },
  180_000,
);

testSlow(
  "a service that is told to stop lets nobody wait, and ends",
  async () => {
    const agent = await joined("wire2");
    await agent.state();
    const held = agent.once("GET", `/agent/state?since=${agent.cursor}&wait=50`, undefined, {
      counter: ++agent.counter,
    });
    // It has been taken by the time that so many later ones were answered.
    for (let later = 0; later < 20; later++) await reach("/healthz", {});
    const began = performance.now();
    const ended = service.stop();
    expect((await held).status).toBe(200);
    expect(await ended).toBe(0);
    expect(performance.now() - began).toBeLessThan(SHORT_HANG);
    service = await startProgram(program, directory, { UAM_HOST_MODE: "dry-run", UAM_FLEET_WAIT: "3s" });
    // The same key, from the same log: what was joined goes on where it was.
    const again = createAgent(reach, await keyOf(), agent.name);
    const { id, key, counter, cursor } = agent;
    Object.assign(again, { id, key, counter, cursor });
    expect(await again.state()).toMatchObject({ full: false, cautious: false });
  },
  180_000,
);

async function keyOf(): Promise<Uint8Array> {
  const { data } = (await (await fetch(`${service.origin}/api/v1/agent/key?challenge=x`)).json()) as {
    data: { public_key: string };
  };
  return Buffer.from(data.public_key, "base64");
}
