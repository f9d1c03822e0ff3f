/**
 * Sudo rules of profiles: templates of the host's owner, filled in with the group of a profile's accounts, so that who leaves the group has
 * none, and nothing is written for an account.
 */

import { closeSync, readdirSync } from "node:fs";
import type { HostProfile } from "../../protocol/profile.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { findCommand, runCommand } from "../command.ts";
import { at, openTrusted } from "../safe-open.ts";
import { groupOf, type ProfilePaths, sudoDirectoryIn } from "./names.ts";
import { placeText, removeText, textIn, writeDraft } from "./profile-files.ts";

const VISUDO = "/usr/sbin/visudo";
const SUDOERS = "/etc/sudoers.d";
const ACCOUNT = "%ACCOUNT%";
/** Sudo reads no file with a full stop in its name. */
const DRAFT = ".draft";

/** What sudo would give by each profile, and why a profile gets less than it names, by its name. */
interface Rules {
  readonly texts: ReadonlyMap<string, string>;
  readonly faults: ReadonlyMap<string, string>;
}

/** The rules of the profiles, all of them checked by visudo: a template that does not pass is left out. Never throws. */
export async function rulesOf(profiles: readonly HostProfile[], paths: ProfilePaths): Promise<Rules> {
  const texts = new Map<string, string>();
  const faults = new Map<string, string>();
  for (const { name, kind, sudo = [] } of profiles) {
    if (kind !== "shell") continue;
    for (const template of sudo) {
      try {
        const text = filledIn(textIn(`${paths.templates}/${template}`), template, groupOf(name));
        await requireValid(text, template, paths);
        texts.set(groupOf(name), `${texts.get(groupOf(name)) ?? ""}${text}`);
      } catch (error) {
        faults.set(name, publicMessage(error));
      }
    }
  }
  return { texts, faults };
}

/** The template's text for a group. Throws `invalid` for one that says more of the account than whose rule it is. Pure. */
export function filledIn(text: string, template: string, group: string): string {
  const said = `The sudo template ${template}`;
  if (text.trim() === "") throw new UamError("invalid", `${said} does not exist`);
  if (text.includes("\0") || /^\s*[@#]include/m.test(text)) throw new UamError("invalid", `${said} includes a file`);
  const filled = text.replace(/^(\s*|\s*Defaults:)%ACCOUNT%/gm, `$1%${group}`);
  if (!filled.includes(`%${group}`)) throw new UamError("invalid", `${said} has no line that begins with ${ACCOUNT}`);
  if (filled.includes(ACCOUNT))
    throw new UamError(
      "invalid",
      `${said} has ${ACCOUNT} elsewhere than at the beginning of a line or after Defaults:`,
    );
  return filled.endsWith("\n") ? filled : `${filled}\n`;
}

/** Makes sudo's directory hold these, and nothing else; what goes, goes first. Throws `internal` if that fails. */
export function placeRules(texts: ReadonlyMap<string, string>, { directory }: ProfilePaths): void {
  const fd = openTrusted(sudoDirectoryIn(directory));
  try {
    for (const name of readdirSync(at(fd, "."))) if (!texts.has(name)) removeText(fd, name);
    for (const [name, text] of texts) if (textIn(at(fd, name)) !== text) placeText(fd, name, text, 0o440);
  } finally {
    closeSync(fd);
  }
}

/** Why sudo gives nothing of it, as a sentence. */
export function faultOfSudo({ directory }: ProfilePaths): string | undefined {
  if (findCommand(VISUDO) === undefined) return "This host has no sudo";
  const line = `@includedir ${sudoDirectoryIn(directory)}`;
  const isIncluded = [...filesIn(SUDOERS), "/etc/sudoers"].some((path) => textIn(path).split("\n").includes(line));
  return isIncluded ? undefined : `sudo reads no rules of profiles: put "${line}" into ${SUDOERS}/uam-profiles`;
}

async function requireValid(text: string, template: string, { directory }: ProfilePaths): Promise<void> {
  if (findCommand(VISUDO) === undefined) throw new UamError("internal", "This host has no sudo");
  const fd = openTrusted(directory);
  try {
    writeDraft(at(fd, DRAFT), text, 0o440);
    const { exitCode, stdout, stderr } = await runCommand([VISUDO, "-c", "-f", `${directory}/${DRAFT}`]);
    const why = `${stderr}${stdout}`.trim().split("\n")[0]?.replace(`${directory}/${DRAFT}`, template);
    if (exitCode !== 0) throw new UamError("invalid", `The sudo template ${template} is not valid: ${why}`);
  } finally {
    removeText(fd, DRAFT);
    closeSync(fd);
  }
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => !name.includes(".") && !name.endsWith("~"))
      .map((name) => `${directory}/${name}`);
  } catch {
    return [];
  }
}
