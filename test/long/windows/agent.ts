/** A further host: its agent is a process of its own, and the service a stub that says what the real one would. */

import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentProcess } from "../../support/agent-process.ts";
import { cursor, startFleetStub } from "../../support/fleet-stub.ts";
import { testSettings } from "../../support/host-account.ts";
import { joinHost } from "../../support/join-host.ts";
import { startSshd } from "../../support/sshd.ts";
import { until } from "../../support/until.ts";
import { lengthFor, type Place, toldInTime } from "./place.ts";
import { directoryPrefix, GROUP, NAMES } from "./traces.ts";

const FIRST_UID = 47_000;
/** In milliseconds, from when the agent is told, and for each account. */
const BEGINS = { least: 5000, each: 20 };
/** Until it has followed what it was told, which may be to make all accounts. */
const PATIENCE = 30 * 60_000;
const DAY = 86_400_000;
/** It compares less often than a test of one account would have it. */
const TIMING = { wait: 1000, patience: 3000, reconcile: 30_000, retry: 200, longest: 500 };

export async function openAgentHost(count: number): Promise<Place> {
  const base = mkdtempSync(directoryPrefix());
  chmodSync(base, 0o755);
  const [directory, home, skew] = [join(base, "lib"), join(base, "home"), join(base, "skew")];
  const files = { directory: join(base, "run"), target: join(base, "revoked") };
  mkdirSync(home);
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(files.target, "# none\n");
  const sshd = await startSshd(base, [`RevokedKeys ${files.directory}/revoked-keys`]);
  const key = sshd.makeKey(1);
  const accounts = Array.from({ length: count }, (_, index) => {
    const name = `ext_${NAMES.agent}${index}`;
    return { name, uid: FIRST_UID + index, key: key.path, file: join(home, name, ".ssh/authorized_keys") };
  });
  const stub = startFleetStub();
  let heads = 1;
  const host = testSettings({ mode: "direct", homeBase: home, markerGroup: GROUP, tools: { sshdConfig: sshd.config } });
  const agent = agentProcess(() => ({ directory, files, host, skew, timing: TIMING }), { isSilent: true });
  await joinHost({ directory, line: stub.line, name: "web1" });
  const clockOff = (seconds: number) => () => writeFileSync(skew, String(seconds));

  /** Returns once the agent has followed, with the accounts made that are not there. */
  async function tell(begin: number) {
    const from = Math.ceil(begin / 1000) * 1000;
    const to = from + Math.ceil(lengthFor(count) / 1000) * 1000;
    const moment = (time: number) => new Date(time).toISOString();
    const hours = { until: moment(from + 8 * DAY), windows: [{ from: moment(from), to: moment(to) }] };
    const told = { expire_at: "2031-03-04T12:00:00.000Z", open: true, keys: [key.key], hours };
    heads++;
    const all = accounts.map(({ name, uid }) => ({ ...told, name, uid }));
    stub.tell({ full: true, accounts: all, lease_ms: 4 * 3_600_000 });
    await until(() => stub.reports.at(-1)?.cursor === cursor(heads), PATIENCE);
    return { from, to };
  }
  clockOff(0)();
  agent.start();
  await tell(Date.now() + DAY);
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
      "the agent stopped": { inside: () => agent.signal("SIGSTOP"), endsSessions: false },
      "the agent killed": { inside: agent.kill, endsSessions: false },
      "the service and the agent killed": { before: cutOff, inside: agent.kill, endsSessions: false },
      "its clock five minutes ahead": { inside: clockOff(300), endsSessions: true },
      "its clock five minutes back": { inside: clockOff(-300), endsSessions: true },
    },
    async tell() {
      stub.gone = false;
      clockOff(0)();
      await agent.gone();
      agent.start();
      return await toldInTime(BEGINS.least + BEGINS.each * count, tell);
    },
    async close() {
      agent.kill();
      await agent.gone();
      await stub.stop();
      sshd.stop();
    },
  };
}
