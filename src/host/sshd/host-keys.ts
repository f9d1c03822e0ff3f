/** The host keys that sshd shows to who connects. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { runCommand } from "../execute/command.ts";
import type { HostSettings } from "../settings.ts";
import { errorCode } from "../walk.ts";
import { settingsCommand } from "./sshd.ts";

const DIRECTORY = "/etc/ssh";
/** A public key's type as ssh-keygen(1) calls it. */
const KINDS: Readonly<Record<string, string>> = { "ssh-ed25519": "ED25519", "ssh-rsa": "RSA", "ssh-dss": "DSA" };

/** As `ssh-keygen -l` names them, `SHA256:… (ED25519)`, in sshd's order; none if nothing can be read. Never throws. */
export async function readHostKeys(tools: HostSettings["tools"]): Promise<readonly string[]> {
  const named = await namedBySshd(tools);
  const paths = named.length > 0 ? named : usual();
  return paths.flatMap((path) => {
    const text = quietly(() => readFileSync(`${path}.pub`, "utf8"), "");
    const name = describeHostKey(text);
    return name === undefined ? [] : [name];
  });
}

/** Fingerprint and kind of a public key line; undefined if it is none. Pure. */
export function describeHostKey(line: string): string | undefined {
  const [type = "", base64 = ""] = line.trim().split(/\s+/);
  const blob = Buffer.from(base64, "base64");
  if (!/^[a-z0-9@.-]+$/.test(type) || blob.length === 0) return undefined;
  const digest = createHash("sha256").update(blob).digest("base64").replace(/=+$/, "");
  const kind = KINDS[type] ?? (type.startsWith("ecdsa-") ? "ECDSA" : type.toUpperCase());
  return `SHA256:${digest} (${kind})`;
}

async function namedBySshd(tools: HostSettings["tools"]): Promise<readonly string[]> {
  // Who is not root cannot ask sshd, which then cannot read its own keys.
  const { stdout } = await runCommand(settingsCommand("ext_example", tools)).catch(() => ({ stdout: "" }));
  return [...stdout.matchAll(/^hostkey (.+)$/gm)].map((match) => match[1] ?? "");
}

function usual(): readonly string[] {
  const names = quietly(() => readdirSync(DIRECTORY), []);
  const keys = names.filter((name) => /^ssh_host_.+_key\.pub$/.test(name)).sort();
  return keys.map((name) => `${DIRECTORY}/${name.slice(0, -".pub".length)}`);
}

function quietly<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch (error) {
    if (errorCode(error) === "") throw error;
    return otherwise;
  }
}
