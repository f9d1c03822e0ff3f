/** Several replicas of the real service on one database, without a host of their own, and who calls them. */

import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/port.ts";
import { type Service, startProgram } from "../../support/service.ts";

const MAIN = join(import.meta.dir, "../../../src/main.ts");

export interface Replicas {
  /** One that was started again takes the place of the one before. */
  readonly services: readonly Service[];
  /** Kills one and starts it again, at the same address; `between` runs while it is gone. */
  restart(index: number, between?: () => Promise<void>): Promise<void>;
  /** A machine's token, of the role operator. */
  readonly token: string;
  /** Makes another: those of before are void after a restore. */
  anotherToken(): string;
  /** How often a mail with that subject went to the address, by all replicas together. */
  mailed(address: string, subject: string): number;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  readonly variables?: Readonly<Record<string, string>>;
  /** The program's source, of another version than this one. */
  readonly main?: string | undefined;
}

/** They end with this process, however that ends. */
const BOUND = ["/usr/bin/setpriv", "--pdeathsig=KILL"];

/** Starts them one after the other: the first brings the database up to date. */
export async function startReplicas(
  url: string,
  count: number,
  { variables: more = {}, main = MAIN }: ReplicaOptions = {},
): Promise<Replicas> {
  const top = mkdtempSync(join(tmpdir(), "uam-replicas-"));
  const key = randomBytes(32).toString("hex");
  const services: Service[] = [];
  const variables = {
    UAM_DATABASE_URL: url,
    UAM_AUDIT_KEY: key,
    UAM_LOCAL_HOST: "off",
    UAM_RATE_LIMIT: "off",
    UAM_LOG_LEVEL: "warn",
    ...more,
  };
  const directories = Array.from({ length: count }, () => mkdtempSync(join(top, "replica-")));
  const ports = await Promise.all(directories.map(freePort));
  const start = (index: number) =>
    startProgram([...BOUND, process.execPath, main], directories[index] ?? "", {
      ...variables,
      UAM_LISTEN: `127.0.0.1:${ports[index]}`,
    });
  for (const index of directories.keys()) services.push(await start(index));
  const [first] = services;
  if (first === undefined) throw new Error("no replica was asked for");
  must(first.run(["admin", "add", "root-admin", "--email", "root@example.org", "--role", "owner"]));
  let tokens = 0;
  const anotherToken = (): string => {
    const wanted = ["--role", "operator", "--days", "2", "--owner", "root-admin", "--json", `load${++tokens}`];
    return JSON.parse(must(first.run(["token", "create", ...wanted]))).token;
  };
  return {
    services,
    token: anotherToken(),
    anotherToken,
    async restart(index, between) {
      await services[index]?.stop("SIGKILL");
      await between?.();
      services[index] = await start(index);
    },
    mailed: (address, subject) =>
      directories.reduce((sum, directory) => {
        const text = readLog(join(directory, "data/mail.log"));
        return sum + text.split("\n").filter((line) => line.includes(address) && line.includes(subject)).length;
      }, 0),
    async stop() {
      await Promise.all(services.map((service) => service.stop()));
      rmSync(top, { recursive: true, force: true });
    },
  };
}

function readLog(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function must({ status, stdout, stderr }: ReturnType<Service["run"]>): string {
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
