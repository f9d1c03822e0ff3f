/** The program as real processes, on an embedded PostgreSQL of its own. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { databaseDirectory } from "../support/directory.ts";
import { HANG } from "../support/hang.ts";
import { describeSlow } from "../support/thorough.ts";

// Each step starts processes.
setDefaultTimeout(180_000);

const PROGRAM = join(import.meta.dir, "../../src/main.ts");

let directory: string;
let variables: Record<string, string>;
beforeAll(() => {
  directory = databaseDirectory("uam-process-");
  variables = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    UAM_DATA_DIR: join(directory, "data"),
    UAM_LISTEN: `unix:${join(directory, "uam.sock")}`,
    UAM_LOG_LEVEL: "error",
  };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function uam(...args: readonly string[]) {
  const options = { cwd: directory, env: variables, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], options);
  return { status, stdout, stderr };
}

function shell(command: string) {
  const env = { ...variables, UAM: `'${process.execPath}' '${PROGRAM}'`, SHELL: "/bin/sh" };
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], { cwd: directory, env, encoding: "utf8" });
  return { status, stdout, stderr };
}

describeSlow("uam as a process", () => {
  test("a command starts the database for as long as it takes", () => {
    const { status, stderr } = uam("user", "create", "alice", "--email", "alice@example.org");
    // What is next, and nothing of the database.
    expect([status, stderr.trim().split("\n")]).toEqual([
      0,
      [
        "alice has no key yet: they log in at http://127.0.0.1:8080/ with a one-time code, and add one.",
        expect.stringMatching(/^No mail is set up\. To print the code: .* otp alice$/),
      ],
    ]);
    expect(uam("user", "list").stdout).toContain("alice@example.org");
    const servers = spawnSync("/usr/bin/pgrep", ["-f", join(directory, "data")], { encoding: "utf8" });
    expect(servers.stdout).toBe("");
  });

  test("the audit log names the account that ran it", () => {
    const own = spawnSync("/usr/bin/id", ["-un"], { encoding: "utf8" }).stdout.trim();
    const { items } = JSON.parse(uam("audit", "list", "--json").stdout);
    expect(items[0]).toMatchObject({ actor_type: "cli", actor: own, action: "user.create" });
  });

  test("serve ends where one of its addresses is taken, although it listens on another by then", () => {
    const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: () => new Response() });
    const listen = {
      UAM_LISTEN: `127.0.0.1:${taken.port}`,
      UAM_METRICS: `unix:${join(directory, "metrics.sock")}`,
    };
    const options = {
      cwd: directory,
      env: { ...variables, ...listen },
      encoding: "utf8",
      timeout: HANG,
      killSignal: "SIGKILL",
    } as const;
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "serve"], options);
    taken.stop(true);
    expect(stderr).toContain("Cannot listen on");
    expect(status).toBe(1);
  });

  test("serve exits with 78 if others can read its data or the host lacks what accounts need, and reports all faults at once", () => {
    const data = join(directory, "open");
    mkdirSync(data);
    chmodSync(data, 0o755);
    writeFileSync(join(data, "audit.key"), "");
    chmodSync(join(data, "audit.key"), 0o640);
    const env = {
      ...variables,
      UAM_DATA_DIR: data,
      UAM_SHELL: "/bin/nosh",
      UAM_HOME_BASE: "/no/homes",
      UAM_GROUPS: "no-such-group",
      UAM_MAX_KEYS: "0",
    };
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "serve"], {
      cwd: directory,
      env,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([
      78,
      `uam: the configuration has faults:
  UAM_MAX_KEYS must be at least 1
  UAM_SHELL is /bin/nosh, which is not a program on this host; set it to a shell of this host
  UAM_HOME_BASE is /no/homes, which is not a directory on this host; create it: mkdir /no/homes
  UAM_GROUPS names no-such-group, a group that this host does not have; groupadd no-such-group
  Others can read ${data} (mode 0755); chmod 0711 ${data}
  Others can read ${data}/audit.key (mode 0640); chmod 0600 ${data}/audit.key
`,
    ]);
  });

  test("what serve prints as the next commands works as printed, in another directory and without its variables", async () => {
    const data = join(directory, "next data");
    const env = {
      ...variables,
      UAM_DATA_DIR: data,
      UAM_LISTEN: "127.0.0.1:0",
      UAM_LOG_LEVEL: "error",
      UAM_CONSOLE: "off",
    };
    const service = spawn(process.execPath, [PROGRAM, "serve"], {
      cwd: directory,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      let said = "";
      for await (const chunk of service.stderr) {
        said += chunk;
        if (said.includes("/auth/admin/login")) break;
      }
      const [add = "", login = ""] = said.split("\n").flatMap((line) => (line.startsWith("  ") ? [line.trim()] : []));
      // npx would fetch this same runtime.
      const npx = `npx() { shift 2; '${process.execPath}' "$@"; }`;
      const other = {
        cwd: mkdtempSync(join(directory, "other-")),
        env: { PATH: variables.PATH ?? "" },
        encoding: "utf8",
      } as const;
      const added = spawnSync("/bin/bash", ["-c", `${npx}; ${add}`], other);
      expect([added.status, added.stderr]).toEqual([0, expect.any(String)]);
      const password = added.stdout.trim();
      const command = login.replace('"..."', JSON.stringify(password)).replace("curl ", "curl -sf -w '%{http_code}' ");
      const logged = spawnSync("/bin/bash", ["-c", command], other);
      expect([logged.status, logged.stdout.slice(-3)]).toEqual([0, "200"]);
    } finally {
      service.kill();
      await once(service, "close");
    }
  });

  test("a reader that stops reading is no failure", () => {
    const { stdout, stderr } = shell("eval $UAM config | head -1; eval $UAM audit export | true");
    expect([stdout, stderr]).toEqual([`UAM_LISTEN=${variables.UAM_LISTEN}\n`, ""]);
  });

  test.each([
    ["full", "> /dev/full"],
    ["closed", ">&-"],
  ])("an output that is %s is a failure, said in one sentence", (_name, output) => {
    for (const command of ["config", "--help", "openapi", "audit list --json", "audit export", "backup -"]) {
      const { status, stderr } = shell(`eval $UAM ${command} ${output}`);
      expect([command, status]).toEqual([command, 1]);
      expect(stderr).toMatch(/^uam: The standard output cannot be written: [^\n]*\n$/);
    }
  });

  test("output to /dev/null is not a closed output", () => {
    expect(shell("eval $UAM backup - > /dev/null")).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("written"),
    });
    // Opened for reading too, as libuv and daemon(3) do.
    expect(shell("eval $UAM backup - 1<> /dev/null").status).toBe(0);
  });

  test("SIGINT and SIGTERM end a command that waits", async () => {
    const waiting = [
      ["healthcheck", "--wait", "1h"],
      ["admin", "add", "patient", "--email", "p@example.org", "--password-stdin"],
    ];
    const end = async (args: readonly string[], signal: "SIGINT" | "SIGTERM") => {
      const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: directory, env: variables, stdio: "pipe" });
      const ended = once(child, "exit");
      // By then it has started; if it had ended by itself, its exit status would show it.
      await Promise.race([ended, Bun.sleep(2000)]);
      child.kill(signal);
      expect(await ended).toEqual([null, signal]);
    };
    await Promise.all(waiting.flatMap((args) => [end(args, "SIGINT"), end(args, "SIGTERM")]));
  });

  test("audit export streams to standard output", () => {
    expect(uam("audit", "export").stdout).toMatch(
      /^\uFEFFid,.*\r\n1,.*user\.create.*\r\n2,.*audit\.export.*\r\n[\s\S]*service\.backup[\s\S]*\r\n$/u,
    );
  });

  test("deleting asks at a terminal, and only there", () => {
    expect(uam("user", "delete", "alice").status).toBe(2);
    // script(1) creates a terminal, on which the answer is typed.
    const ask = (answer: string) => shell(`printf '${answer}\\n' | script -qec "$UAM user delete alice" /dev/null`);
    expect(ask("n").stdout).toMatch(/Delete alice \(id 1\).*\[y\/N\] [\s\S]*Nothing was deleted\./);
    expect(uam("user", "show", "alice").status).toBe(0);
    expect(ask("y").stdout).toContain("Deleted alice");
    expect(uam("user", "show", "alice").status).toBe(1);
  });

  test("Ctrl-C at a question is no", async () => {
    shell("eval $UAM user create undecided --email u@example.org");
    const command = `${process.execPath} ${PROGRAM} user delete undecided`;
    const terminal = spawn("script", ["-qec", command, "/dev/null"], { cwd: directory, env: variables, stdio: "pipe" });
    let said = "";
    terminal.stdout.on("data", (chunk) => {
      // script(1) passes its input to the terminal, which turns the third character into a signal.
      if (!said.includes("[y/N]") && `${said}${chunk}`.includes("[y/N]")) terminal.stdin.write("\x03");
      said += chunk;
    });
    await once(terminal, "close");
    expect(said).toContain("Nothing was deleted.");
    expect(uam("user", "show", "undecided").status).toBe(0);
  });

  test("a command that did its work does not fail if standard error cannot be written", () => {
    const { status, stdout } = shell("eval $UAM otp undecided 2> /dev/full");
    expect(stdout).toMatch(/^\d{8}\n$/);
    expect(status).toBe(0);
  });

  test("version, help and mistakes end at once with their exit codes", () => {
    expect(uam("version").stdout).toMatch(/^uam \d+\.\d+\.\d+, bun /);
    expect(uam("--help").status).toBe(0);
    expect(uam("nonsense")).toMatchObject({ status: 2, stdout: "" });
  });
});

describeSlow("uam beside the service", () => {
  let service: ChildProcess;
  let ended: Promise<number | null>;
  beforeAll(() => {
    service = spawn(process.execPath, [PROGRAM, "serve"], { cwd: directory, env: variables, stdio: "ignore" });
    ended = new Promise((resolve) => service.on("exit", resolve));
  });

  test("healthcheck --wait returns once the service answers, and commands share its database", async () => {
    expect(uam("healthcheck", "--wait", "60s")).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(uam("user", "create", "bob", "--email", "bob@example.org").status).toBe(0);
    expect(uam("user", "list").stdout).toContain("bob@example.org");
    expect(JSON.parse(uam("host", "list", "--json").stdout).items).toMatchObject([{ name: "local", mode: "dry-run" }]);
    expect(uam("healthcheck").status).toBe(0);
    const unix = join(directory, "uam.sock");
    const readiness = await fetch("http://localhost/api/v1/readyz", { unix });
    expect([readiness.status, await readiness.json()]).toEqual([200, { data: { status: "ok" } }]);
    const taken = spawnSync(process.execPath, [PROGRAM, "serve"], {
      cwd: directory,
      env: { ...variables, UAM_LISTEN: "unix:/dev/null/uam.sock" },
      encoding: "utf8",
    });
    expect(taken.status).toBe(1);
    expect(taken.stderr).toMatch(/^uam: Cannot listen on unix:\/dev\/null\/uam\.sock: [^\n]*\n$/);
    service.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(uam("healthcheck").status).toBe(1);
  });
});
