/** Which program a name stands for on this host, where there may be two. */

import { existsSync, realpathSync } from "node:fs";
import { findCommand, runCommand } from "../host/command.ts";
import { PACKAGED_PROGRAM, PROGRAM } from "../install/settings.ts";
import { areaOf, type Finding } from "./finding.ts";

/** Distributions have others of these in their place: sudo-rs, uutils. */
const DISPUTED = ["/usr/bin/sudo", "/usr/bin/install", "/usr/bin/find"] as const;
const area = areaOf("programs");

/** Says which programs sudo mode runs, and in what version. */
export async function checkDisputedPrograms(paths: readonly string[] = DISPUTED): Promise<readonly Finding[]> {
  const used = await Promise.all(paths.map(describe));
  return [area.ok(`In use are ${used.join(", ")}`)];
}

/** A note if a copy of uam hides the package's, and so its updates. */
export function checkOwnProgram(copy: string = PROGRAM, packaged: string = PACKAGED_PROGRAM): readonly Finding[] {
  if (!existsSync(copy) || !existsSync(packaged) || realpathSync(copy) === realpathSync(packaged)) return [];
  return [
    area.note(
      `There are two programs named uam: a shell runs ${copy}, and updates of the package come to ${packaged}`,
      `remove ${copy} once the unit runs ${packaged}: ${packaged} install does both`,
    ),
  ];
}

async function describe(path: string): Promise<string> {
  const found = findCommand(path);
  if (found === undefined) return `no ${path}`;
  const { stdout, stderr } = await runCommand([found, "--version"]);
  const version = `${stdout}\n${stderr}`.trim().split("\n")[0]?.slice(0, 80) || "of unknown version";
  const real = realpathSync(found);
  return `${found}${real === found ? "" : ` (${real})`}: ${version}`;
}
