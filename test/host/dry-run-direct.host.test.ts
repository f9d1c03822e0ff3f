import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { createHost } from "../../src/host/create-host.ts";
import type { Host } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { base, directHost, GROUP, prepareHost, recorded, sshd, stored } from "../support/direct-host.ts";
import { describeOnHost, type LogLine, recordingLog, testSettings } from "../support/host-account.ts";

/** An account's life: created, two uploads, a revocation, disabled, enabled, expired, deleted. */
const LIFE: readonly (readonly [string, (host: Host, keys: ReturnType<typeof makeKeys>) => Promise<unknown>])[] = [
  ["create", (host) => host.createAccount(stored())],
  ["first upload", (host, { first }) => host.writeKeys(stored({ keys: [first] }))],
  ["second upload", (host, { first, second }) => host.writeKeys(stored({ keys: [first, second] }))],
  ["revoke", (host, { first, second }) => host.takeKey(stored({ keys: [second] }), first.fingerprint)],
  ["disable", (host) => host.shutAccount(stored())],
  ["enable", (host, { second }) => host.openAccount(stored({ keys: [second] }))],
  ["expire", (host) => host.shutAccount(stored())],
  ["delete", (host) => host.removeAccount(stored())],
];

describeOnHost("dry-run beside direct", () => {
  prepareHost();

  test.each(["key", "account", "none"] as const)(
    "dry-run logs exactly what direct does in an account's life, with a revocation that ends %p",
    async (revokeEnds) => {
      const keys = makeKeys();
      const tools = { sshdConfig: sshd.config };
      const settings = testSettings({ homeBase: base, markerGroup: GROUP, revokeEnds, tools });
      const planned = recordingLog();
      const dry = await createHost(settings, planned.log, bunRuntime);
      const direct = await directHost({ revokeEnds });
      // What is created at the start does not belong to the account.
      recorded.lines.length = 0;
      for (const [step, live] of LIFE) {
        const before = hostState();
        const said = await live(dry, keys);
        expect([step, hostState()]).toEqual([step, before]);
        expect([step, await live(direct, keys)]).toEqual([step, said]);
        const [would, did] = [changesIn(planned.lines, "would "), changesIn(recorded.lines, "host: ")];
        expect([step, ...would]).toEqual([step, ...did]);
        expect(did.length).toBeGreaterThan(0);
        planned.lines.length = 0;
        recorded.lines.length = 0;
      }
    },
  );
});

function makeKeys() {
  const [first, second] = [sshd.makeKey(21), sshd.makeKey(22)];
  for (const { path } of [first, second]) execFileSync("rm", [path, `${path}.pub`]);
  return { first: first.key, second: second.key };
}

function changesIn(lines: readonly LogLine[], prefix: string): readonly object[] {
  return lines
    .filter(({ message }) => message.startsWith(prefix) && !message.includes(" ended with "))
    .map(({ message, fields }) => ({ message: message.slice(prefix.length), fields }));
}

/** What a dry run must leave alone. */
function hostState(): string {
  const files = execFileSync("find", [base, "-printf", "%p %i %C@ %s\\n"], { encoding: "utf8" });
  return files + execFileSync("cat", ["/etc/passwd", "/etc/shadow", "/etc/group"], { encoding: "utf8" });
}
