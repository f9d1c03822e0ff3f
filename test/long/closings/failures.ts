/** What may go wrong with a host, a database or the service while access is taken away. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HANG } from "../../support/hang.ts";
import type { Lane } from "./lane.ts";
import type { Random } from "./random.ts";
import { COMMANDS, TROUBLES } from "./shims.ts";

/** A failure that is in force until it ends. */
export interface Armed {
  /** What it is, with what was picked. */
  readonly name: string;
  /** The database, or the service itself, may be kept from saying that a closing was begun. */
  readonly reachesDatabase: boolean;
  readonly end: () => Promise<void>;
}

type Failure = (lane: Lane, random: Random) => Promise<Armed>;

const SLOW = "hang";

const COMMAND_FAILURES = (lane: Lane, random: Random, thorough: boolean): string[] => {
  const count = random.pick([1, 1, 2, 4, COMMANDS.length]);
  return Array.from({ length: count }, (_, index) => {
    const path = count === COMMANDS.length ? (COMMANDS[index] ?? "") : random.pick(COMMANDS);
    const picked = random.pick(TROUBLES);
    const trouble = picked === SLOW && !(thorough && count === 1) ? "fail" : picked;
    lane.shims.trouble(path, trouble);
    return `${path.split("/").at(-1)} ${trouble}`;
  });
};

/** By system call, for the thread in which the service touches files. */
const INJECTIONS = [
  "rename,renameat,renameat2:error=EIO",
  "rename,renameat,renameat2:error=ENOSPC",
  "unlink,unlinkat,rmdir:error=EPERM",
  "mkdir,mkdirat:error=ENOSPC",
  "fchown,fchmod,fsync:error=EIO",
  "ftruncate,fallocate:error=ENOSPC",
  "write,pwrite64:error=ENOSPC:when=1+2",
  "getdents64:error=EIO",
  "openat,open:error=EIO:when=NTH+5",
  "openat,open:error=EROFS:when=NTH+3",
  "openat,open:error=EMFILE:when=NTH+2",
  "read,pread64:error=EIO:when=NTH+9",
  "fork,vfork,clone,clone3:error=EAGAIN",
  "fork,vfork,clone,clone3:error=ENOMEM:when=NTH+2",
  "kill:error=EPERM",
] as const;
/** At any step of the work. */
const STEPS = "openat,open,rename,unlink,fchmod,fchown,ftruncate,fsync,mkdir,vfork,clone3,kill,getdents64,newfstatat";

/** Makes system calls of the service fail, as strace(1) says it. */
export async function inject(lane: Lane, expression: string): Promise<Armed> {
  const calls = expression.slice(0, expression.indexOf(":"));
  const argv = [
    "-q",
    "-o",
    "/dev/null",
    "-p",
    String(lane.pid()),
    "-e",
    `trace=${calls}`,
    "-e",
    `inject=${expression}`,
  ];
  const strace = spawn("/usr/bin/strace", argv, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  strace.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await traced(lane.pid(), strace, () => `${expression}: ${said}`);
  return {
    name: expression,
    reachesDatabase: true,
    end: async () => {
      const ended = new Promise((resolve) => strace.once("exit", resolve));
      if (strace.exitCode === null && strace.kill("SIGTERM")) await Promise.race([ended, Bun.sleep(2000)]);
    },
  };
}

async function traced(pid: number, strace: ChildProcess, why: () => string): Promise<void> {
  for (const end = performance.now() + HANG; performance.now() < end && strace.exitCode === null; ) {
    if (!/^TracerPid:\t0$/m.test(statusOf(pid))) return;
    await Bun.sleep(10);
  }
  // The service is gone: it ends at what failed before, such as no room for a thread.
  if (statusOf(pid) !== "") throw new Error(`strace did not begin: ${why()}`);
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

const PIDS = "/sys/fs/cgroup/pids";

/** What is used now is all there is: no process more. */
export async function withoutProcesses(lane: Lane): Promise<Armed> {
  if (!existsSync(`${PIDS}/cgroup.procs`)) return await inject(lane, "fork,vfork,clone,clone3:error=EAGAIN");
  const group = join(PIDS, `uam-proof-${lane.pid()}`);
  mkdirSync(group);
  const write = (file: string, text: string) => spawnSync("/bin/sh", ["-c", `echo ${text} > ${file}`]);
  write(join(group, "cgroup.procs"), String(lane.pid()));
  write(join(group, "pids.max"), readFileSync(join(group, "pids.current"), "utf8").trim());
  return {
    name: "no process more",
    reachesDatabase: true,
    end: async () => {
      write(join(group, "pids.max"), "max");
      const members = existsSync(group) ? readFileSync(join(group, "cgroup.procs"), "utf8") : "";
      for (const pid of members.split("\n").filter(Boolean)) write(join(PIDS, "cgroup.procs"), pid);
      // It goes when what is in it has ended.
      spawnSync("rmdir", [group], { stdio: "ignore" });
    },
  };
}

function inService(pid: number, script: string): void {
  spawnSync("/usr/bin/nsenter", ["--mount", "--target", String(pid), "/bin/sh", "-c", script]);
}

/** Read-only to the service and what it runs; the account's owner can write. */
const readOnly =
  (place: (lane: Lane) => string): Failure =>
  async (lane) => {
    const path = place(lane);
    // With a service that is started again the namespace is another, in which nothing is read-only.
    const pid = lane.pid();
    inService(pid, `mount --bind ${path} ${path} && mount -o remount,bind,ro ${path}`);
    const name = `${path.startsWith("/etc") ? path : "homes"} read-only`;
    return { name, reachesDatabase: false, end: async () => inService(pid, `umount -l ${path}`) };
  };

/** A trigger that raises as long as a file is there, so that it ends though the database is down; deferred ones do so at the commit. */
const refused =
  (table: string, when: "at once" | "at the commit"): Failure =>
  async (lane) => {
    const flag = join(lane.ground.directory, `lane${lane.index}/refuse-${table}`);
    const kind = when === "at once" ? "" : "constraint";
    const deferred = when === "at once" ? "" : "deferrable initially deferred";
    const name = `proof_${table}`;
    await lane.sql(`create or replace function ${name}() returns trigger language plpgsql security definer as $$ begin
      if (pg_stat_file('${flag}', true)).size is not null then raise exception 'made to fail'; end if;
      return null; end $$; drop trigger if exists ${name} on ${table};
      create ${kind} trigger ${name} after insert or update or delete on ${table} ${deferred}
      for each row execute function ${name}()`);
    writeFileSync(flag, "");
    return {
      name: `${table} refused ${when}`,
      reachesDatabase: true,
      end: async () => rmSync(flag, { force: true }),
    };
  };

const cut: Failure = async (lane, random) => {
  const waits = Array.from({ length: random.pick([1, 3]) }, () => random.below(500));
  const cutting = (async () => {
    for (const wait of waits) {
      await Bun.sleep(wait);
      await lane
        .sql("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'uam'")
        .catch(() => undefined);
    }
  })();
  return { name: `connections cut after ${waits.join(", ")} ms`, reachesDatabase: true, end: () => cutting };
};

const serverKilled: Failure = async (lane, random) => {
  const wait = random.below(400);
  const killing = (async () => {
    await Bun.sleep(wait);
    const file = join(lane.dataDir, "postgres/data/postmaster.pid");
    const pid = existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : 0;
    if (pid > 0) spawnSync("kill", ["-KILL", String(pid)]);
  })();
  return { name: `PostgreSQL killed after ${wait} ms`, reachesDatabase: true, end: () => killing };
};

const killedAtStep: Failure = async (lane, random) =>
  await inject(lane, `${STEPS}:signal=SIGKILL:when=${1 + random.below(random.pick([20, 200, 800]))}`);

const killedAtMoment: Failure = async (lane, random) => {
  const wait = random.below(random.pick([60, 400, 1500]));
  let over = false;
  const pid = lane.pid();
  const killing = Bun.sleep(wait).then(() => {
    if (!over) spawnSync("kill", ["-KILL", String(pid)]);
  });
  const end = async () => {
    over = true;
    await killing;
  };
  return { name: `the service killed after ${wait} ms`, reachesDatabase: true, end };
};

/** A file system for homes that root has filled. */
const noSpace: Failure = async (lane) => {
  const file = join(lane.base, "filler");
  spawnSync("dd", ["if=/dev/zero", `of=${file}`, "bs=64k"], { stdio: "ignore" });
  return { name: "no block left", reachesDatabase: false, end: async () => rmSync(file, { force: true }) };
};

const commands =
  (thorough: boolean): Failure =>
  async (lane, random) => {
    const name = COMMAND_FAILURES(lane, random, thorough).join(", ");
    return { name, reachesDatabase: false, end: async () => lane.shims.clear() };
  };

/** Commands most often, as most steps are commands. */
export async function armFailure(lane: Lane, random: Random, thorough: boolean): Promise<Armed> {
  const none: Failure = async () => ({ name: "nothing", reachesDatabase: false, end: async () => {} });
  const failures: readonly Failure[] = [
    ...[none, commands(thorough), commands(thorough), commands(thorough), withoutProcesses, noSpace],
    ...[readOnly(() => "/etc"), readOnly(({ base }) => base)],
    ...Array.from(
      { length: 5 },
      (): Failure => async () => {
        const expression = random.pick(INJECTIONS).replace("NTH", String(1 + random.below(30)));
        return await inject(lane, expression);
      },
    ),
    ...[refused("audit", "at once"), refused("users", "at the commit"), refused("ssh_keys", "at the commit")],
    ...[
      refused("closings", "at once"),
      cut,
      cut,
      serverKilled,
      killedAtStep,
      killedAtStep,
      killedAtMoment,
      killedAtMoment,
    ],
  ];
  const armed = await random.pick(failures)(lane, random);
  let ended: Promise<void> | undefined;
  return {
    ...armed,
    end: () => {
      ended ??= armed.end();
      return ended;
    },
  };
}
