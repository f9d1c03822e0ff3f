/** Logins and requests by programs of this machine: they work the same whatever is being replaced in the container. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Container } from "./container.ts";

/** What sshd says to a key; "none" where it says neither, as while it is being started again. */
export type Answer = "admitted" | "refused" | "none";

const SSH: readonly string[] = [
  ...["ssh", "-F", "none", "-o", "LogLevel=VERBOSE", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes"],
  ...["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "ConnectTimeout=10"],
];
const MOST = 250;
/** Milliseconds: for an sshd that is being replaced on a busy machine. */
const PATIENCE = 180_000;

let logins = 0;

/** Tries a key of the container's root. */
export async function knock(container: Container, user: string, key: string): Promise<Answer> {
  const { stderr } = await container.fromHere([...login(container, user, key), "true"], 30);
  if (/^Authenticated to /m.test(stderr)) return "admitted";
  return stderr.includes("Permission denied") ? "refused" : "none";
}

/** What sshd says as soon as it says anything; "none" if that takes minutes. */
export async function knockUntilAnswered(container: Container, user: string, key: string): Promise<Answer> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const said = await knock(container, user, key);
    if (said !== "none" || performance.now() > end) return said;
    await Bun.sleep(500);
  }
}

/** Opens a session in which the program runs until somebody ends it. */
export function stay(container: Container, { user, key }: { user: string; key: string }, program: string): void {
  const argv = [...login(container, user, key), `exec ${program}`];
  Bun.spawn(["setpriv", "--pdeathsig", "KILL", "nsenter", `--target=${container.leader}`, "--net", ...argv], {
    stdio: ["ignore", "ignore", "ignore"],
  });
}

/** True if a process in the container has the uid. */
export async function hasProcesses({ leader, fromHere }: Container, uid: number): Promise<boolean> {
  return (await fromHere(["pgrep", "--ns", String(leader), "--nslist", "pid", "-U", String(uid)])).status === 0;
}

/** The account's uid; undefined if there is none. */
export function uidOf({ directory }: Container, user: string): number | undefined {
  const found = new RegExp(`^ext_${user}:[^:]*:(\\d+):`, "m").exec(readFileSync(join(directory, "etc/passwd"), "utf8"));
  return found === null ? undefined : Number(found[1]);
}

export interface Request {
  readonly method: "POST" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  /** Of the container's root: the session. */
  readonly jar: string;
}

/** Asks the service. Throws what it says unless it says yes. */
export async function ask(container: Container, { method, path, body, jar }: Request): Promise<string> {
  const file = join(container.directory, "root", `${jar}.jar`);
  const content = body === undefined ? [] : ["-H", "Content-Type: application/json", "-d", JSON.stringify(body)];
  const argv = ["curl", "-sS", "--fail-with-body", "-b", file, "-c", file, "-X", method, ...content];
  const { status, stdout, stderr } = await container.fromHere([...argv, `${container.api}${path}`]);
  if (status !== 0) throw new Error(`${method} ${path}: ${`${stdout} ${stderr}`.trim()}`);
  return stdout;
}

/** From an address of its own: from OpenSSH 9.8 on, sshd shuts an address out for a while after some refused logins. */
function login({ directory }: Container, user: string, key: string): readonly string[] {
  const number = logins++;
  const address = `127.${1 + Math.floor(number / MOST ** 2)}.${Math.floor(number / MOST) % MOST}.${1 + (number % MOST)}`;
  return [...SSH, "-b", address, "-i", join(directory, "root", key), `ext_${user}@127.0.0.1`];
}
