/** Silent sessions end, by a real sshd; those in which something goes on do not. */

import { afterAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Host } from "../../../src/protocol/host.ts";
import type { HostProfile } from "../../../src/protocol/profile.ts";
import {
  base,
  directHost,
  NAME,
  prepareHost,
  RUN,
  recorded,
  run,
  running,
  sshd,
  stored,
  UID,
} from "../../support/direct-host.ts";
import { connectClient, openTerminal } from "../../support/direct-terminal.ts";
import { describeOnHost } from "../../support/host-account.ts";
import { freePort } from "../../support/port.ts";
import { forgetProfiles, profiledSettings, profiledSshd } from "../../support/profiled-host.ts";
import { until } from "../../support/until.ts";

const named = (kind: string): string => `t${RUN}-${kind}`;
const LIMIT = 900_000;
const later = (milliseconds: number): Date => new Date(Date.now() + milliseconds);

describeOnHost("a profile with idle, in direct mode", () => {
  prepareHost(profiledSshd);

  let host: Host;
  let key = "";
  afterAll(() => forgetProfiles(...["shell", "sftp", "db"].map(named)));

  async function open(profile: HostProfile): Promise<void> {
    const made = sshd.makeKey(Math.floor(Math.random() * 1e9));
    key = made.path;
    host = await directHost(profiledSettings(base, sshd.config));
    expect(await host.holdProfiles([profile], "give")).toEqual([{ name: profile.name, state: "applied" }]);
    const account = stored({ keys: [made.key], profile: profile.name });
    await host.createAccount(account);
    await host.openAccount(account);
  }

  const connect = (program: "ssh" | "sftp", ...more: readonly string[]) => connectClient(program, key, more);
  const terminal = () => openTerminal(key);

  test("endSilent() ends a terminal in which nobody types, after a word to it, and spares one in which somebody does", async () => {
    await open({ name: named("shell"), kind: "shell", secondFactor: "none", idleSeconds: LIMIT / 1000 });
    const [silent, busy] = [await terminal(), await terminal()];
    // What goes on without a terminal is work, however little it says.
    const work = spawn("ssh", [...["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"], ...["-o", "UserKnownHostsFile=/dev/null", "-i", key, "-p", String(sshd.port), `${NAME}@127.0.0.1`], "sleep 8383"]); // biome-ignore format: one line
    await until(() => run("pgrep", "-u", String(UID), "-fx", "sleep 8383").status === 0);
    const setBack = (path: string, milliseconds: number) => utimesSync(path, later(-milliseconds), new Date());
    setBack(silent.path, LIMIT - 30_000);
    await host.endSilent(later(0));
    await host.endSilent(later(0));
    await until(() => silent.said().includes("ends soon"));
    expect([silent.said().split("ends soon").length - 1, silent.said().includes("after 15m"), busy.said()]).toEqual([
      1,
      true,
      expect.not.stringContaining("ends soon"),
    ]);
    for (const { path } of [silent, busy]) setBack(path, LIMIT + 60_000);
    busy.type("echo still-$((40+3))\n");
    await until(() => busy.said().includes("still-43"));
    await host.endSilent(later(0));
    await until(silent.hasEnded);
    busy.type("echo again-$((40+4))\n");
    await until(() => busy.said().includes("again-44"));
    expect([busy.hasEnded(), work.exitCode]).toEqual([false, null]);
    expect(recorded.lines.filter((line) => JSON.stringify(line).includes("silent for too long"))).toHaveLength(1);
    for (const { child } of [busy, { child: work }]) child.kill();
  });

  test("endSilent() ends a session that copies nothing, and spares one that does", async () => {
    const sftp = { kind: "sftp", directory: join(base, "drop"), secondFactor: "none" } as const;
    await open({ name: named("sftp"), ...sftp, idleSeconds: LIMIT / 1000 });
    const [silent, busy] = [connect("sftp"), connect("sftp")];
    for (const client of [silent, busy]) {
      client.type("pwd\n");
      await until(() => client.said().includes("working directory"));
    }
    await host.endSilent(later(0));
    const file = join(base, "sent");
    writeFileSync(file, "sent");
    busy.type(`put ${file} sent\n`);
    const has = () => statSync(join(base, "drop", NAME, "sent"), { throwIfNoEntry: false }) !== undefined;
    await until(() => has() && readFileSync(join(base, "drop", NAME, "sent"), "utf8") === "sent");
    // Each has a process of sshd's and one that copies; a client that waits for its owner does not notice by itself.
    expect(running()).toBe(4);
    await host.endSilent(later(LIMIT));
    await until(() => running() === 2);
    // What it was to copy names the file, too: only what comes after the list says that the list has come.
    busy.type("ls -1\n!echo listed-$((40+2))\n");
    await until(() => busy.said().includes("listed-42"));
    await host.endSilent(later(LIMIT));
    expect(running()).toBe(2);
    await host.endSilent(later(2 * LIMIT + 1));
    await until(() => running() === 0);
    for (const { child } of [silent, busy]) child.kill();
  });

  test("endSilent() ends a connection that forwards nothing, and spares one that does", async () => {
    const target = await freePort();
    const opened: Socket[] = [];
    const server = createServer((socket) => void opened.push(socket.on("error", () => undefined))).listen(target);
    const forward = { kind: "forward", targets: [`127.0.0.1:${target}`], secondFactor: "none" } as const;
    await open({ name: named("db"), ...forward, idleSeconds: LIMIT / 1000 });
    const [silent, busy] = [connect("ssh", "-W", `127.0.0.1:${target}`), connect("ssh", "-W", `127.0.0.1:${target}`)];
    await until(() => opened.length === 2);
    await host.endSilent(later(0));
    const heard = Promise.race(opened.map((socket) => new Promise((resolve) => socket.once("data", resolve))));
    busy.type("something");
    await heard;
    await host.endSilent(later(LIMIT));
    await until(silent.hasEnded);
    expect(busy.hasEnded()).toBe(false);
    busy.child.kill();
    server.close();
    for (const socket of opened) socket.destroy();
  });
});
