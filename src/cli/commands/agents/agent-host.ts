/** The first steps that commands on an agent's host share. */

import { hostname } from "node:os";
import { AGENT_DIRECTORY } from "../../../agent/paths.ts";
import { type AgentIdentity, findIdentity } from "../../../agent/store.ts";
import { runCommand } from "../../../host/command.ts";
import { UamError } from "../../../shared/errors.ts";
import type { CliEnvironment } from "../../terminal/environment.ts";

/** This host's identity; throws `conflict` if it has joined no service, and `invalid` for anybody but root. */
export function requireJoined(environment: Pick<CliEnvironment, "isRoot">, directory = AGENT_DIRECTORY): AgentIdentity {
  if (!environment.isRoot) throw new UamError("invalid", "This needs root");
  const identity = findIdentity(directory);
  if (identity !== undefined) return identity;
  throw new UamError(
    "conflict",
    "This host has joined no service: make a line there with uam host token, then uam agent join LINE",
  );
}

/** The host's full name, as far as it knows it. */
export async function fullHostName(): Promise<string> {
  const { exitCode, stdout } = await runCommand(["/usr/bin/hostname", "-f"]).catch(() => ({ exitCode: 1, stdout: "" }));
  const name = exitCode === 0 && stdout.trim() !== "" ? stdout.trim() : hostname();
  return name.toLowerCase();
}

/**
 * Where people connect with ssh unless UAM_SSH_HOST says it: the host's full name, or `joined`, the name under which it joined, where the
 * full name leads everybody to their own machine.
 */
export function publishedName(full: string, joined: string): string {
  return /^localhost\d?(?:\.localdomain\d?)?$/.test(full) ? joined : full;
}
