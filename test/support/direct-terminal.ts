/** Clients of the account of test/support/direct-host.ts, by its sshd. */

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { NAME, sshd, UID } from "./direct-host.ts";
import { PATIENT } from "./sshd.ts";
import { until } from "./until.ts";

export interface TerminalClient {
  readonly child: ChildProcess;
  readonly type: (text: string) => void;
  readonly said: () => string;
  readonly hasEnded: () => boolean;
}

/** A client that logs in with the key in that file; its input and output are the test's. */
export function connectClient(program: "ssh" | "sftp", key: string, more: readonly string[] = []): TerminalClient {
  const options = ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR"];
  const port = [program === "ssh" ? "-p" : "-P", String(sshd.port)];
  const to = ["-o", "UserKnownHostsFile=/dev/null", "-i", key, ...port, ...more, `${NAME}@127.0.0.1`];
  const child = spawn(program, [...options, ...PATIENT, ...to]);
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  return {
    child,
    type: (text) => void child.stdin.write(text),
    said: () => said,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
  };
}

/** A shell on a terminal that sshd made, at its first prompt. */
export async function openTerminal(key: string): Promise<TerminalClient & { readonly path: string }> {
  const before = new Set(terminals());
  const client = connectClient("ssh", key, ["-tt"]);
  let path: string | undefined;
  await until(() => {
    path = terminals().find((one) => !before.has(one));
    return path !== undefined;
  });
  client.type("PS1=; echo in-$((40+2))\n");
  await until(() => client.said().includes("in-42"));
  return { ...client, path: path ?? "" };
}

/** The terminals of the account. */
function terminals(): readonly string[] {
  return readdirSync("/dev/pts")
    .map((name) => `/dev/pts/${name}`)
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.uid === UID);
}
