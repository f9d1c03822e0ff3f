/** Whether sshd reads our file, and whether it could. */

import { existsSync, readdirSync } from "node:fs";
import { runCommand } from "../command.ts";
import { splitHome } from "../plan/plan.ts";
import { at } from "../safe-open.ts";
import type { HostSettings } from "../settings.ts";
import { type ProfilePaths, sshdFileIn } from "./names.ts";
import { removeText, textIn, writeDraft } from "./profile-files.ts";

const CONFIG = "/etc/ssh/sshd_config";
const DRAFT = ".draft.conf";
const TRIAL = ".trial.conf";

/** Why sshd does not read our file, as a sentence that names the remedy. */
export function faultOfInclude(
  { tools }: Pick<HostSettings, "tools">,
  { directory }: ProfilePaths,
): string | undefined {
  const config = tools?.sshdConfig ?? CONFIG;
  const beside = `${splitHome(config).base}/sshd_config.d`;
  const dropIns = existsSync(beside) ? readdirSync(beside).filter((name) => name.endsWith(".conf")) : [];
  const line = new RegExp(`^\\s*Include\\s+"?${sshdFileIn(directory)}"?\\s*$`, "im");
  if ([config, ...dropIns.map((name) => `${beside}/${name}`)].some((path) => line.test(textIn(path)))) return undefined;
  return `sshd does not read ${directory}: run uam install again, on an agent's host uam agent join`;
}

/** What sshd says against the text, were it in our file's place; undefined if it would read it. */
export async function refusalBySshd(
  { tools }: HostSettings,
  { directory, paths, text }: { readonly directory: number; readonly paths: ProfilePaths; readonly text: string },
): Promise<string | undefined> {
  const sshd = tools?.sshd ?? "/usr/sbin/sshd";
  const includes = [tools?.sshdConfig ?? CONFIG, `${paths.directory}/${DRAFT}`].map((path) => `Include ${path}\n`);
  try {
    writeDraft(at(directory, DRAFT), text, 0o600);
    writeDraft(at(directory, TRIAL), includes.join(""), 0o600);
    const { exitCode, stderr } = await runCommand([sshd, "-t", "-f", `${paths.directory}/${TRIAL}`]);
    if (exitCode === 0) return undefined;
    const [why = `exit code ${exitCode}`] = stderr.trim().split("\n");
    return `sshd does not accept its configuration: ${why}`;
  } finally {
    removeText(directory, DRAFT);
    removeText(directory, TRIAL);
  }
}
