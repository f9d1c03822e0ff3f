/** What sshd says of a profile's accounts, compared with what it should say. */

import { publicMessage } from "../../shared/errors.ts";
import type { HostContext } from "../host-context.ts";
import { type SshdSettings, valuesOf } from "../sshd/sshd-settings.ts";
import { type Block, type Setting, settingsOf, shutSettings } from "./sshd-blocks.ts";

/** Asks sshd for the account: why the profile does not hold for it, as a sentence; undefined if it does. Never throws. */
export async function faultForAccount(
  { patterns }: Pick<HostContext, "patterns">,
  block: Block,
  account: string,
): Promise<string | undefined> {
  try {
    const { settings, problem } = await patterns.settingsFor(account);
    if (settings === undefined) return problem ?? "This host has no sshd";
    return faultIn(settings, block, account);
  } catch (error) {
    return publicMessage(error);
  }
}

/** The same of an answer. Pure. */
export function faultIn(settings: SshdSettings, { profile, isShut }: Block, account: string): string | undefined {
  const wanted = isShut ? shutSettings() : [...settingsOf(profile), ...others(profile.kind === "shell")];
  const hasFiles = valuesOf(settings, "Subsystem").some((value) => /^sftp(?: |$)/.test(value));
  if (profile.kind === "sftp" && !hasFiles) return "sshd offers no sftp: set Subsystem sftp internal-sftp";
  const differing = wanted.find(({ name, value }) => valuesOf(settings, name).join(" ") !== value);
  if (differing === undefined) return undefined;
  const { name, value } = differing;
  const said = valuesOf(settings, name).join(" ") || "nothing";
  return `sshd gives ${account} ${name} ${said} instead of ${value}: look for what stands before /etc/ssh/sshd_config.d/50-uam.conf in sshd's configuration`;
}

/** What the block for all accounts says, and what no block may say: a file in the home could give a program its environment. */
function others(isShell: boolean): readonly Setting[] {
  return [
    { name: "AuthorizedKeysCommand", value: "none" },
    { name: "TrustedUserCAKeys", value: "none" },
    ...(isShell ? [] : [{ name: "PermitUserEnvironment", value: "no" }]),
  ];
}
