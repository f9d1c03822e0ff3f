/** Processes that cannot be made, receivers that never answer, and a clock that is set. */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { HANG } from "../../support/hang.ts";
import { childrenOf, onStage, PASSWORD, type Setting, type Stage, usedBy } from "./stage.ts";

const PIDS = "/sys/fs/cgroup/pids";

/** As many processes as there are, and none more: for the service and its database. */
export const noProcess = () =>
  onStage({ leaks: false }, async (stage) => {
    const { service, call, fault } = stage;
    if (!existsSync(join(PIDS, "cgroup.procs")))
      return fault(true, "this machine has no pids control group (version 1)");
    const group = join(PIDS, `uam-faults-${service.pid}`);
    mkdirSync(group);
    const set = (file: string, text: string) => writeFileSync(join(group, file), text);
    try {
      const postmaster = stage.postmaster();
      for (const pid of [service.pid, postmaster, ...childrenOf(postmaster)]) set("cgroup.procs", String(pid));
      set("pids.max", readFileSync(join(group, "pids.current"), "utf8").trim());
      const answers = new Set<string>();
      for (let count = 0; count < 10; count++) {
        const { status, body } = await call("POST", "/users", { username: `np-${count}`, email: "a@example.org" });
        answers.add(`${status} ${body?.error ?? ""}`);
        for (const pid of childrenOf(postmaster)) if (count === 5 && isBackend(pid)) process.kill(pid, "SIGTERM");
      }
      for (const answer of answers) fault(/^0|internal error/.test(answer), `without a process to make: ${answer}`);
      fault((await call("GET", "/healthz")).status !== 200, "/healthz is not answered without a process to make");
    } finally {
      set("pids.max", "max");
    }
    await stage.recovers(HANG);
    await stage.othersAreServed("once processes can be made again");
    for (const pid of readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean)) {
      writeFileSync(join(PIDS, "cgroup.procs"), pid);
    }
    try {
      rmdirSync(group);
    } catch {
      // It goes with the last process in it.
    }
  });

function isBackend(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("uam uam");
  } catch {
    return false;
  }
}

interface Hole {
  readonly port: number;
  readonly taken: () => number;
  close(): void;
}

/** Takes every connection, and never says anything. */
async function blackHole(): Promise<Hole> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  let most = 0;
  server.on("connection", () => {
    most++;
  });
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    taken: () => most,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A webhook, a SIEM and a mail server that take connections and never answer. */
export async function deafReceivers(): Promise<readonly string[]> {
  const [hook, siem, mail] = [await blackHole(), await blackHole(), await blackHole()];
  const variables = {
    UAM_WEBHOOK_NETWORKS: "127.0.0.0/8",
    UAM_AUDIT_STREAM: `syslog://127.0.0.1:${siem.port}`,
    UAM_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    UAM_MAIL_FROM: "uam@example.org",
  };
  try {
    return await onStage({ variables, leaks: false }, async (stage) => {
      const { call, fault } = stage;
      const made = await call("POST", "/webhooks", { url: `http://127.0.0.1:${hook.port}/`, password: PASSWORD });
      fault(made.status !== 201, `the webhook is not made: ${JSON.stringify(made.body)}`);
      const body = (count: number) => ({ username: `deaf-${count}`, email: "a@example.org", purpose: "x".repeat(900) });
      for (let count = 0; count < 200; count++) {
        const began = performance.now();
        const { status } = await call("POST", "/users", body(count));
        if (status !== 201) fault(true, `a change is answered with ${status} beside receivers that never answer`);
        if (performance.now() - began > 5000) fault(true, "a change waits for receivers that never answer");
      }
      await Bun.sleep(12_000);
      await stage.othersAreServed("beside receivers that never answer");
      fault(hook.taken() === 0 || siem.taken() === 0 || mail.taken() === 0, "a receiver was not tried");
      const { descriptors } = usedBy(stage.service.pid);
      fault(descriptors > 256, `${descriptors} descriptors are used beside receivers that never answer`);
      const began = performance.now();
      const code = await stage.service.stop();
      fault(
        code !== 0 || performance.now() - began > 30_000,
        `it stops with ${code} after ${performance.now() - began} ms`,
      );
    });
  } finally {
    for (const hole of [hook, siem, mail]) hole.close();
  }
}

const FAKETIME = ["x86_64", "aarch64"].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`);

/**
 * Forward by ten days and back, then back by ten: the service's own clock, not that of its database. Where there is no libfaketime it is
 * the program from source, whose Date is another; a time namespace (time_namespaces(7)) has other clocks, but not this one.
 */
export const clockSet = () => {
  const library = FAKETIME.find((path) => existsSync(path));
  if (library === undefined || process.env.UAM_TEST_FAKETIME === "off") return onStage(SKEWED, clockActs);
  const faked = (at: string) => {
    writeFileSync(join(at, "time"), "+0\n");
    return [
      ...["/usr/bin/env", `LD_PRELOAD=${library}`, `FAKETIME_TIMESTAMP_FILE=${at}/time`, "FAKETIME_NO_CACHE=1"],
      "FAKETIME_DONT_FAKE_MONOTONIC=1",
    ];
  };
  return onStage({ as: faked }, clockActs);
};

const SOURCE = join(import.meta.dir, "../../..");
const SKEWED: Setting = {
  program: (at) => {
    writeFileSync(join(at, "time"), "+0\n");
    const skewed = join(SOURCE, "test/support/skewed-clock.ts");
    return [
      "/usr/bin/env",
      `UAM_TEST_TIME=${at}/time`,
      process.execPath,
      "--preload",
      skewed,
      join(SOURCE, "src/main.ts"),
    ];
  },
};

async function clockActs(stage: Stage): Promise<void> {
  const { call, fault, service, directory } = stage;
  const set = (offset: string) => writeFileSync(join(directory, "time"), `${offset}\n`);
  const body = (name: string, ttl_days = 5) => ({ username: name, email: "a@example.org", ttl_days });
  await call("POST", "/users", body("short"));
  const login = async () => {
    const { cookie } = await service.call("POST", "/auth/admin/login", "", {
      username: "boss",
      password: "seven lanterns over cold water",
    });
    return cookie;
  };
  const heartbeats = () =>
    service
      .log()
      .split("\n")
      .filter((line) => line.includes("the heartbeat has a gap")).length;
  set("+10d");
  fault((await call("GET", "/users")).status !== 401, "a session of ten days ago is valid");
  await until(() => heartbeats() > 0, 100_000);
  fault(heartbeats() === 0, "ten days forward are not noticed within 100 s");
  const ahead = await login();
  const asAhead = (path: string) => service.call("GET", path, ahead);
  await until(async () => (await asAhead("/users?status=expired")).body.data?.total === 1, 70_000);
  fault((await asAhead("/users")).body.data?.total !== 1, "somebody was deleted by a clock that was set");
  set("-10d");
  await until(() => heartbeats() > 1, 100_000);
  fault(heartbeats() < 2, "twenty days back are not noticed within 100 s");
  set("+0");
  const now = await login();
  const made = await service.call("POST", "/users", now, body("later"));
  fault(made.status !== 201, `with the clock set right nobody can be created: ${JSON.stringify(made.body)}`);
  set("+13h");
  fault(
    (await asAhead("/users")).status !== 401,
    "a session that was opened ahead of time lives for longer than twelve hours",
  );
  set("+0");
}

async function until(isSo: () => boolean | Promise<boolean>, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!(await isSo()) && performance.now() < end) await Bun.sleep(500);
}
