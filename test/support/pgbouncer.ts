/** A real pgbouncer in front of PostgreSQL. */

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./port.ts";
import { type PostgresNode, UNPRIVILEGED } from "./postgres-nodes.ts";

const PROGRAM = "/usr/sbin/pgbouncer";

export const hasPgbouncer = existsSync(PROGRAM);

export interface Pgbouncer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts one in that mode for the database; `size` is how many connections it has for all of its clients. */
export async function startPgbouncer(
  target: PostgresNode,
  { mode, size = 5 }: { readonly mode: "transaction" | "session"; readonly size?: number },
): Promise<Pgbouncer> {
  const directory = mkdtempSync(join(tmpdir(), "uam-pgbouncer-"));
  const port = await freePort();
  const users = join(directory, "users.txt");
  writeFileSync(users, `"postgres" ""\n`);
  const file = join(directory, "pgbouncer.ini");
  writeFileSync(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${size}
ignore_startup_parameters = extra_float_digits,TimeZone
`,
  );
  // It refuses to run as root.
  chmodSync(directory, 0o755);
  for (const path of [users, file]) chmodSync(path, 0o644);
  const argv = [...UNPRIVILEGED, PROGRAM, "-q", file];
  const child = spawn(argv[0] ?? "", argv.slice(1), { stdio: ["ignore", "ignore", "ignore"] });
  await listening(port);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async close() {
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 3000; attempt++) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await Bun.sleep(20);
  }
  throw new Error("pgbouncer does not start");
}
