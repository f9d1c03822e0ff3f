import { afterAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServiceManager, watchdogInterval } from "../../../../src/cli/commands/service/service-manager.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { until } from "../../../support/until.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-notify-"));
const receivers: ChildProcess[] = [];
afterAll(() => {
  for (const receiver of receivers) receiver.kill("SIGKILL");
  rmSync(top, { recursive: true, force: true });
});

// perl-base is on every Debian.
const RECEIVER = `
use Socket;
$| = 1;
my $path = shift; $path =~ s/^@/\\0/;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!;
bind($s, pack_sockaddr_un($path)) or die $!;
print "bound\\n";
while (defined recv($s, my $text, 4096, 0)) { $text =~ s/\\n/\\\\n/g; print "'$text'\\n"; }
`;

/** A datagram socket like systemd's; Bun cannot receive such messages itself. */
async function receive(path: string): Promise<readonly string[]> {
  const child = spawn("perl", ["-e", RECEIVER, path], { stdio: ["ignore", "pipe", "inherit"] });
  receivers.push(child);
  const lines: string[] = [];
  child.stdout
    .setEncoding("utf8")
    .on("data", (text: string) => lines.push(...text.split("\n").filter((line) => line !== "")));
  await until(() => lines.includes("bound"));
  return lines;
}

describe("service manager", () => {
  for (const socket of [join(top, "notify"), `@uam-test-${process.pid}`]) {
    test(`ready(), reloading() and stopping() reach ${socket[0] === "@" ? "an abstract socket" : "a socket"}, and the watchdog is fed`, async () => {
      const lines = await receive(socket);
      const variables = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: "40000", WATCHDOG_PID: String(process.pid) };
      const manager = openServiceManager(variables, bunRuntime, silentLog);
      await until(() => lines.includes("'EXTEND_TIMEOUT_USEC=60000000'"));
      manager.ready("answers\nhere");
      await until(() => lines.filter((line) => line === "'WATCHDOG=1'").length >= 3);
      manager.reloading();
      manager.stopping();
      await until(() => lines.includes("'STOPPING=1'"));
      manager.close();
      expect(lines.filter((line) => !line.includes("WATCHDOG"))).toEqual([
        "bound",
        "'EXTEND_TIMEOUT_USEC=60000000'",
        "'READY=1\\nSTATUS=answers here'",
        "'RELOADING=1'",
        "'STOPPING=1'",
      ]);
    });
  }

  test("ready() logs and continues if systemd is not there", () => {
    const errors: string[] = [];
    const log = { ...silentLog, error: (message: string) => void errors.push(message) };
    openServiceManager({ NOTIFY_SOCKET: join(top, "nobody") }, bunRuntime, log).ready("");
    openServiceManager({ NOTIFY_SOCKET: "relative" }, bunRuntime, log).ready("");
    expect(errors).toEqual([
      "systemd could not be notified",
      "systemd could not be notified",
      "systemd cannot be reached at NOTIFY_SOCKET",
    ]);
  });

  test("watchdogInterval() is half of what systemd allows, and undefined for another process", () => {
    expect(watchdogInterval({ WATCHDOG_USEC: "30000000" }, 1)).toBe(15_000);
    expect(watchdogInterval({ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "1" }, 2)).toBeUndefined();
    expect(watchdogInterval({ WATCHDOG_USEC: "soon" }, 1)).toBeUndefined();
    expect(watchdogInterval({}, 1)).toBeUndefined();
  });
});
