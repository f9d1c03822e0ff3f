import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createHost } from "../../src/host/create-host.ts";
import { describeChange, describeJobsCopy } from "../../src/host/executor.ts";
import { expectedOwner, planShut } from "../../src/host/plan/plan.ts";
import type { Account } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { fileOf, recordingLog, testAccount, testSettings } from "../support/host-account.ts";

const account = testAccount();
/** So that it does not matter what the machine's own sshd reads. */
const NO_SSHD = { sshd: "/nonexistent/no-sshd" };

describe("dry-run", () => {
  test("createAccount() logs the useradd it would run and creates nothing", async () => {
    const { log, lines } = recordingLog();
    const host = await createHost(testSettings({ tools: NO_SSHD }), log, bunRuntime);
    await host.createAccount(account);
    const useradd = lines.find((line) => JSON.stringify(line.fields.argv)?.includes("useradd"));
    expect(useradd).toMatchObject({ level: "info", message: "would run" });
    expect(readFileSync("/etc/passwd", "utf8")).not.toContain(account.name);
  });

  test("planned() tells what a dry run logs, each line once, and logs nothing itself", async () => {
    const { log, lines } = recordingLog();
    const host = await createHost(testSettings({ tools: NO_SSHD }), log, bunRuntime);
    const planned = await host.planned((planner) => planner.shutAccount(account));
    expect(lines).toEqual([]);
    await host.shutAccount(account);
    expect(planned.map((line) => line.split(": ")[0])).toEqual(
      [...new Set(lines.map((line) => JSON.stringify(line)))].map((line) => JSON.parse(line).message),
    );
    expect(planned).toContain("would run: /usr/sbin/usermod -e 1 -- ext_tplan");
    expect(planned).toContain('would end every process: account="ext_tplan" uid=58801');
  });

  test("writeKeys() logs the file it would write, with its content", async () => {
    const { log, lines } = recordingLog();
    const host = await createHost(testSettings({ tools: NO_SSHD }), log, bunRuntime);
    await host.writeKeys(account);
    expect(lines).toEqual([
      {
        level: "info",
        message: "would write",
        fields: {
          path: "/home/ext_tplan/.ssh/authorized_keys",
          owner: 58_801,
          group: 58_801,
          mode: "0600",
          directoryMode: "0700",
          content: fileOf(account),
        },
      },
    ]);
  });

  test("shutAccount() logs exactly the plan of direct mode", async () => {
    const { log, lines } = recordingLog();
    const settings = testSettings({ tools: NO_SSHD });
    const host = await createHost(settings, log, bunRuntime);
    expect(await host.shutAccount(account)).toEqual({ refused: true, owed: [] });
    const { refuse, end, clear } = planShut(settings, expectedOwner(settings, account), { others: [] });
    const [before, after] = [
      [...refuse, ...end],
      [...clear, ...end],
    ];
    const plan = [...before.map(describeChange), describeJobsCopy(account), ...after.map(describeChange)];
    expect(lines.map(({ message, fields }) => ({ message, fields }))).toEqual(
      plan.map(({ message, fields }) => ({ message: `would ${message}`, fields })),
    );
  });

  test("removeAccount() logs userdel without -r, and reconcile() finds nothing", async () => {
    const { log, lines } = recordingLog();
    const host = await createHost(testSettings({ tools: NO_SSHD }), log, bunRuntime);
    expect(await host.removeAccount(account)).toEqual({ refused: true, owed: [] });
    expect(lines.map((line) => line.fields.argv)).toContainEqual(["/usr/sbin/userdel", "--", "ext_tplan"]);
    expect(await host.reconcile([account], false)).toEqual([]);
  });

  test("presence(), nameTaken() and uidTaken() take the stored account to exist", async () => {
    const { log } = recordingLog();
    const host = await createHost(testSettings({ tools: NO_SSHD }), log, bunRuntime);
    expect([await host.presence(account), await host.nameTaken("root"), await host.uidTaken(0)]).toEqual([
      "present",
      false,
      false,
    ]);
  });

  test("every method refuses a name that is not one of ours", async () => {
    const { log, lines } = recordingLog();
    const host = await createHost(testSettings({ tools: NO_SSHD }), log, bunRuntime);
    const root = testAccount({ name: "root" });
    const takeKey = (it: Account) => host.takeKey(it, "SHA256:x");
    const closings = [host.shutAccount, takeKey, host.removeAccount];
    for (const call of [host.createAccount, host.writeKeys, host.openAccount, ...closings]) {
      await expect(call(root)).rejects.toThrow("Not the name of an account");
    }
    expect(lines).toEqual([]);
  });
});
