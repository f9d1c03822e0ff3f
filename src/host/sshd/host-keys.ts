/** The keys by which the host's sshd proves itself: only their public halves are read. */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { ServerKey } from "../../protocol/host.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import { findCommand, runCommand } from "../command.ts";
import type { HostSettings } from "../settings.ts";
import { settingsCommand } from "./sshd.ts";
import { askedForSettings, parseSshdSettings, type Run, valuesOf } from "./sshd-settings.ts";

/** In the order clients prefer (HostKeyAlgorithms in ssh_config(5)); other types are not shown. */
const TYPES = [/^ssh-ed25519$/, /^ecdsa-sha2-nistp\d+$/, /^ssh-rsa$/];
const DIRECTORY = "/etc/ssh";
/** Any name of an account of ours will do: the host keys do not depend on who connects. */
const ANYBODY = hostAccountOf("a");

/** After how long sshd is asked again which files its keys are in; the files themselves are read each time. */
const REMEMBERED = 10 * MINUTE;

/**
 * Reads the public keys, in clients' order of preference; none if none can be read. `run` asks sshd, which answers only
 * root; if it does not answer, its default files are read.
 */
export function createHostKeys(
  tools: HostSettings["tools"],
  run: Run = runCommand,
  directory = DIRECTORY,
): () => Promise<readonly ServerKey[]> {
  let asked = Number.NEGATIVE_INFINITY;
  let files: Promise<readonly string[]> = Promise.resolve([]);
  return async () => {
    if (performance.now() - asked > REMEMBERED) {
      asked = performance.now();
      files = filesOf(tools, run, directory);
    }
    const keys = (await Promise.all((await files).map(readPublicKey))).filter((key) => key !== undefined);
    return TYPES.flatMap((type) => keys.filter((key) => type.test(key.type)));
  };
}

async function filesOf(tools: HostSettings["tools"], run: Run, directory: string): Promise<readonly string[]> {
  const named = await filesInForce(tools, run);
  if (named.length > 0) return named;
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => /^ssh_host_\w+_key\.pub$/.test(name)).map((name) => `${directory}/${name}`);
}

/** The public halves of the keys that `HostKey` names: a private key, or a public one whose other half is in an agent. */
async function filesInForce(tools: HostSettings["tools"], run: Run): Promise<readonly string[]> {
  const command = settingsCommand(ANYBODY, tools);
  if (findCommand(command[0] ?? "") === undefined) return [];
  const result = await askedForSettings(command, run).catch(() => undefined);
  if (result?.exitCode !== 0) return [];
  const named = valuesOf(parseSshdSettings(result.stdout), "HostKey").filter((path) => path.startsWith("/"));
  return named.map((path) => `${path.replace(/\.pub$/, "")}.pub`);
}

async function readPublicKey(path: string): Promise<ServerKey | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  const [, type = "", base64 = ""] = /^\s*([a-z0-9@.-]+) +([A-Za-z0-9+/]+={0,2})(?:\s|$)/.exec(text) ?? [];
  if (base64 === "") return undefined;
  const hash = createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64");
  return { type, base64, fingerprint: `SHA256:${hash.replace(/=+$/, "")}` };
}
