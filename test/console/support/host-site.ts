/** A service that manages this host, a real sshd beside it, and the mails it wrote: where journeys begin and end. */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../../src/shared/log.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { openEmbeddedPostgres } from "../../../src/store/postgres/embedded-postgres.ts";
import { HANG } from "../../support/hang.ts";
import { type Service, startProgram } from "../../support/service.ts";
import { startSshd, type TestSshd } from "../../support/sshd.ts";

export const ADMIN = { username: "root-admin", password: "seven lanterns over cold water" } as const;

export interface HostSite {
  readonly service: Service;
  readonly sshd: TestSshd;
  /** The newest mail to the address whose text has a match; returns the match. */
  mailed(to: string, pattern: RegExp): Promise<string>;
  /** Whether a command that the page gave lets in whoever has the key. */
  admits(command: string, keyPath: string): boolean;
  /** Runs SQL in the service's database. */
  sql(statement: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts all of it, with an administrator. `names` are those of the users that will be made; what an earlier run left of them goes. */
export async function openHostSite(program: readonly string[], names: readonly string[]): Promise<HostSite> {
  names.forEach(removeAccount);
  const directory = mkdtempSync("/var/tmp/uam-journey-");
  mkdirSync(join(directory, "sshd"));
  const mailLog = join(directory, "mail.log");
  const sshd = await startSshd(join(directory, "sshd"), ["UsePAM yes"]);
  const service = await startProgram(program, directory, {
    UAM_HOST_MODE: "direct",
    UAM_UID_RANGE: "58900-58999",
    UAM_MAIL_LOG: mailLog,
    UAM_SSH_HOST: `127.0.0.1:${sshd.port}`,
    HOME: directory,
    DENO_NO_UPDATE_CHECK: "1",
  });
  const added = service.run(
    ["admin", "add", ADMIN.username, "--email", "root@example.org", "--password-stdin"],
    `${ADMIN.password}\n`,
  );
  if (added.status !== 0) throw new Error(added.stderr);
  return {
    service,
    sshd,
    mailed: (to, pattern) => mailed(mailLog, to, pattern),
    admits: (command, keyPath) => admits(command, keyPath),
    sql: async (statement) => {
      const shared = await openEmbeddedPostgres({ dataDir: join(directory, "data"), log: silentLog });
      const database = openDatabase(shared.connection, 1);
      await database.db.execute(statement);
      await database.close();
      await shared.stop();
    },
    close: async () => {
      sshd.stop();
      await service.stop();
      names.forEach(removeAccount);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function mailed(file: string, to: string, pattern: RegExp): Promise<string> {
  const deadline = performance.now() + HANG;
  while (performance.now() < deadline) {
    for (const line of linesOf(file).reverse()) {
      const mail = JSON.parse(line) as { readonly to: string; readonly text: string };
      const match = mail.to === to ? pattern.exec(mail.text) : null;
      if (match !== null) return match[0];
    }
    await Bun.sleep(50);
  }
  throw new Error(`No mail to ${to} has ${pattern}:\n${linesOf(file).join("\n")}`);
}

function linesOf(file: string): string[] {
  try {
    // The last one may be half written.
    return readFileSync(file, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

/** The command as it is, with what a test has to say besides. */
function admits(command: string, keyPath: string): boolean {
  const [program = "", ...rest] = command.trim().split(/\s+/);
  const options = [
    ...["-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no"],
    ...["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=60", "-i", keyPath],
  ];
  const { status, stdout } = spawnSync(program, [...options, ...rest, "id", "-un"], {
    encoding: "utf8",
    timeout: HANG,
  });
  return status === 0 && rest.some((part) => part.startsWith(`${stdout.trim()}@`));
}

function removeAccount(name: string): void {
  const account = `ext_${name}`;
  spawnSync("chattr", ["-i", `/home/${account}/.ssh`]);
  spawnSync("pkill", ["-KILL", "-u", account]);
  spawnSync("userdel", ["-f", "--", account]);
  rmSync(`/home/${account}`, { recursive: true, force: true });
}
