/** Real SSH sessions in sudo mode: seen and ended by the program as root, and only what the rules and the program allow. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import type { HostKey } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { describeOnHost } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import { createSudoLab, GROUP, NAME, OTHER, type SudoLab, stored, UID } from "../support/sudo-lab.ts";
import { until } from "../support/until.ts";

// Real commands and logins, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

let lab: SudoLab;
let sshd: TestSshd;
let host: RemoteHost;
let made: { readonly path: string; readonly key: HostKey };

describeOnHost("SSH sessions in sudo mode", () => {
  beforeAll(async () => {
    lab = createSudoLab();
    sshd = await startSshd(lab.base);
    made = sshd.makeKey(1);
    host = lab.startHost();
  });
  beforeEach(async () => {
    await host.createAccount(stored({ keys: [made.key] }));
    await host.writeKeys(stored({ keys: [made.key] }));
  });
  afterEach(() => lab.cleanUp());
  afterAll(() => {
    host?.stop();
    sshd?.stop();
    lab?.remove();
  });

  const sleeps = (marker: string): boolean =>
    processesOf(readProcesses(), UID).some(({ pid }) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replace(/\0/g, " ").trim().endsWith(`sleep ${marker}`);
      } catch {
        return false;
      }
    });
  async function login(marker: string): Promise<string> {
    const before = (await host.sessions(stored())).map(({ id }) => id);
    sshd.open(NAME, made.path, `sleep ${marker}`);
    await until(() => sleeps(marker));
    return (await host.sessions(stored())).find(({ id }) => !before.includes(id))?.id ?? "";
  }

  test("sessions() and endSession() see the logins and end one, and no other", async () => {
    const first = await login("411");
    const second = await login("412");
    expect((await host.sessions(stored())).map(({ id, from, fingerprint }) => ({ id, from, fingerprint }))).toEqual([
      { id: first, from: "127.0.0.1", fingerprint: undefined },
      { id: second, from: "127.0.0.1", fingerprint: undefined },
    ]);
    expect(await host.endSession(stored(), first)).toBe("ended");
    expect([sleeps("411"), sleeps("412")]).toEqual([false, true]);
    expect(await host.endSession(stored(), first)).toBe("gone");
    expect(await host.endSession(stored(), "x; reboot")).toBe("gone");
    expect((await host.sessions(stored())).map(({ id }) => id)).toEqual([second]);
  });

  test("logins() reads the journal as root, or finds none where there is none", async () => {
    expect(await host.logins("")).toEqual({ logins: [], next: expect.any(String) });
    expect(await host.logins("s=1;i=2")).toEqual({ logins: [], next: expect.any(String) });
  });

  test("a service that was taken over ends no process but the connections of accounts that are ours", async () => {
    const program = bunRuntime.program;
    const ask = (...argv: readonly string[]) => lab.asService(["sudo", "-n", "--", ...program, "host", ...argv]);
    const id = await login("421");
    // The rules do not know these.
    for (const argv of [
      ["sessions", "root", "0"],
      ["sessions", NAME, "0"],
      ["sessions", NAME, String(UID), "sudo"],
      ["sessions", NAME],
      ["sessions", NAME, String(UID), "--help"],
      ["end-session", "root", String(UID), id],
      ["end-session", NAME, String(UID), "root", id],
      ["end-session", NAME, String(UID), `${id}x`],
      ["end-session", NAME, String(UID), id, id],
      ["end-session", NAME, String(UID), ""],
      ["logins", ""],
      ["logins", "zz"],
      ["logins", "00", "00"],
      ["logins", "--help"],
      ["look", "sudo", lab.base, "%h/.ssh/authorized_keys"],
      ["look", GROUP, "/root", "%h/.ssh/authorized_keys"],
      ["look", GROUP, lab.base, "%h/.ssh/id_ed25519"],
      ["look", GROUP, lab.base],
      [],
    ]) {
      const refused = ask(...argv);
      expect([argv, refused.status, refused.stdout]).toEqual([argv, 1, ""]);
      expect(refused.stderr).toMatch(/a password is required|not allowed/);
    }
    // The rules allow these; the program ends nothing, and lists nothing.
    const init = `${process.hrtime.bigint()}`.slice(0, 6);
    for (const [argv, printed] of [
      [["sessions", OTHER, String(UID)], []],
      [["sessions", NAME, String(UID + 1)], []],
      [["end-session", OTHER, String(UID), id], "gone"],
      [["end-session", NAME, String(UID + 1), id], "gone"],
      [["end-session", NAME, String(UID), `${init}0000001`], "gone"],
      [["end-session", NAME, String(UID), `00${id}`.slice(0, 22)], "gone"],
    ] as const) {
      const ran = ask(...argv);
      expect([argv, ran.status, JSON.parse(ran.stdout)]).toEqual([argv, 0, printed]);
    }
    expect(sleeps("421")).toBe(true);
  });

  test("root's side of it does nothing for anybody else", () => {
    const asked = lab.asService([...bunRuntime.program, "host", "sessions", NAME, String(UID)]);
    expect([asked.status, asked.stdout]).toEqual([1, ""]);
    expect(asked.stderr).toContain("This needs root");
  });
});
