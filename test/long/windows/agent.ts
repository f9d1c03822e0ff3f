/** A further host: its agent is a process of its own, and the service a stub that says what the real one would. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DriverSettings } from "../../support/agent-driver.ts";
import { cursor, startFleetStub } from "../../support/fleet-stub.ts";
import { testSettings } from "../../support/host-account.ts";
import { joinHost } from "../../support/join-host.ts";
import { killWithCommands } from "../../support/kill-with-commands.ts";
import { startSshd } from "../../support/sshd.ts";
import { until } from "../../support/until.ts";
import type { Place } from "./place.ts";
import { forgetAccounts } from "./traces.ts";

const FIRST_UID = 57_000;
const GROUP = "uam-ext-windows";
/** In milliseconds, from when the agent is told, and for each account. */
const BEGINS = 5000;
const LASTS = { least: 12_000, each: 600 };

export async function openAgentHost(count: number): Promise<Place> {
  const base = mkdtempSync("/var/lib/uam-windows-");
  chmodSync(base, 0o755);
  const [directory, home, skew] = [join(base, "lib"), join(base, "home"), join(base, "skew")];
  const files = { directory: join(base, "run"), target: join(base, "revoked") };
  mkdirSync(home);
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(files.target, "# none\n");
  const sshd = await startSshd(base, [`RevokedKeys ${files.directory}/revoked-keys`]);
  const key = sshd.makeKey(1);
  const accounts = Array.from({ length: count }, (_, index) => {
    const name = `ext_twindow${index}`;
    return { name, uid: FIRST_UID + index, key: key.path, file: join(home, name, ".ssh/authorized_keys") };
  });
  const stub = startFleetStub();
  let heads = 1;
  let agent: ChildProcess | undefined;
  const going: (() => Promise<void>)[] = [];
  await joinHost({ directory, line: stub.line, name: "web1" });
  const clockOff = (seconds: number) => () => writeFileSync(skew, String(seconds));

  function start(): void {
    const host = testSettings({
      mode: "direct",
      homeBase: home,
      markerGroup: GROUP,
      tools: { sshdConfig: sshd.config },
    });
    const timing = { wait: 1000, patience: 3000, reconcile: 5000, retry: 200, longest: 500 };
    const settings: DriverSettings = { directory, files, host, skew, timing };
    const driver = join(import.meta.dir, "../../support/agent-driver.ts");
    agent = spawn(process.execPath, [driver, JSON.stringify(settings)], { stdio: ["ignore", "ignore", "ignore"] });
  }
  function kill(): void {
    if (agent === undefined) return;
    going.push(killWithCommands(agent));
    agent.kill("SIGCONT");
    agent.kill("SIGKILL");
    agent = undefined;
  }
  const cutOff = () => {
    stub.gone = true;
  };

  return {
    about: "a further host",
    sshd,
    accounts,
    ways: {
      "all well": { endsSessions: true },
      "the agent cut off": { before: cutOff, endsSessions: true },
      "the agent stopped": { inside: () => agent?.kill("SIGSTOP"), endsSessions: false },
      "the agent killed": { inside: kill, endsSessions: false },
      "the service and the agent killed": { before: cutOff, inside: kill, endsSessions: false },
      "its clock five minutes ahead": { inside: clockOff(300), endsSessions: true },
      "its clock five minutes back": { inside: clockOff(-300), endsSessions: true },
    },
    async tell() {
      stub.gone = false;
      clockOff(0)();
      for (const gone of going.splice(0)) await gone();
      if (agent?.kill("SIGCONT") !== true) start();
      const from = Math.ceil((Date.now() + BEGINS) / 1000) * 1000;
      const to = from + Math.ceil((LASTS.least + LASTS.each * count) / 1000) * 1000;
      const moment = (time: number) => new Date(time).toISOString();
      const hours = { until: moment(from + 8 * 86_400_000), windows: [{ from: moment(from), to: moment(to) }] };
      const told = { expire_at: "2031-03-04T12:00:00.000Z", open: true, keys: [key.key], hours };
      heads++;
      const all = accounts.map(({ name, uid }) => ({ ...told, name, uid }));
      stub.tell({ full: true, accounts: all, lease_ms: 3_600_000, now: moment(Date.now()) });
      await until(() => stub.reports.at(-1)?.cursor === cursor(heads));
      return { from, to };
    },
    async close() {
      kill();
      for (const gone of going.splice(0)) await gone();
      await stub.stop();
      sshd.stop();
      await forgetAccounts(accounts);
      spawnSync("groupdel", [GROUP]);
      rmSync(base, { recursive: true, force: true });
    },
  };
}
