/** uam agent leave: ends what uam agent join began. */

import { endLease } from "../agent/lease.ts";
import { accountsOf, hostOpener } from "../agent/open-host.ts";
import { AGENT_DIRECTORY } from "../agent/paths.ts";
import { forgetAgent, readState } from "../agent/store.ts";
import { planAgentRemoval, planAgentStop } from "../install/agent.ts";
import type { AccountRef, Host } from "../protocol/host.ts";
import { hostSettingsOf } from "../server/host-settings.ts";
import { counted } from "../shared/counted.ts";
import { publicMessage } from "../shared/errors.ts";
import { LEASE_FILES, requireJoined } from "./agent-host.ts";
import { carryOut, findSshUnit } from "./carry-out.ts";
import { type CliEnvironment, commandLog, EXIT, loadConfig } from "./environment.ts";

export async function leaveService(
  environment: CliEnvironment,
  { keep, yes }: { readonly keep: boolean; readonly yes: boolean },
): Promise<number> {
  const identity = requireJoined(environment);
  const config = await loadConfig(environment);
  const settings = hostSettingsOf(config);
  if (!yes && environment.ask === undefined) {
    environment.err("uam: Leaving needs --yes if there is no terminal to ask at.\n");
    return EXIT.usage;
  }
  const names = accountsOf(settings.markerGroup);
  const what = keep ? "Stop the agent" : `Remove ${counted(names.length, "account")} with their homes, and the agent`;
  const answer = yes ? "yes" : await environment.ask?.(`${what}? [y/N] `);
  if (!/^y(es)?$/i.test(answer ?? "")) {
    environment.err("Nothing was changed.\n");
    return EXIT.failed;
  }
  await carryOut(environment, planAgentStop(), "do");
  if (keep) {
    environment.err("The agent is stopped. When the lease ends, sshd lets no external account in.\n");
    return EXIT.done;
  }
  endLease(LEASE_FILES);
  const log = await commandLog(environment, config, true);
  // As root, whatever the agent runs as.
  const mode = settings.mode === "sudo" ? "direct" : settings.mode;
  const host = await hostOpener({ ...settings, mode }, log, environment.runtime)("all");
  const left = await removeAll(environment, host, await refsOf(host, names));
  await carryOut(environment, planAgentRemoval({ sshUnit: findSshUnit(), accounts: left }), "do");
  if (left.length > 0) {
    environment.err(`Not removed: ${left.join(", ")}. Run uam agent leave again, or remove them by hand.\n`);
    return EXIT.failed;
  }
  forgetAgent(AGENT_DIRECTORY);
  environment.err(`This host has left ${identity.service}. There: uam host retire ${identity.name} --force\n`);
  return EXIT.done;
}

/** Those that the agent knows, and those that the host has besides. */
async function refsOf(host: Host, names: readonly string[]): Promise<readonly AccountRef[]> {
  const known = readState(AGENT_DIRECTORY)?.records ?? [];
  const refs = new Map<string, AccountRef>(known.map(({ name, uid }) => [name, { name, uid }]));
  for (const name of names) {
    const found = await host.findAccount(name).catch(() => undefined);
    if (found !== undefined) refs.set(name, found);
  }
  return [...refs.values()];
}

/** Shuts all of them before it removes the first. Returns the names of those that are left. */
async function removeAll(
  environment: CliEnvironment,
  host: Host,
  refs: readonly AccountRef[],
): Promise<readonly string[]> {
  for (const ref of refs) await host.shutAccount(ref).catch(() => undefined);
  const left: string[] = [];
  for (const ref of refs) {
    try {
      const { owed } = await host.removeAccount(ref);
      if (owed.length === 0) continue;
      environment.err(`uam: ${ref.name}: ${owed.join(". ")}\n`);
    } catch (error) {
      // Missing, or somebody else's.
      environment.err(`uam: ${ref.name}: ${publicMessage(error)}\n`);
      if ((await host.presence(ref)) !== "present") continue;
    }
    left.push(ref.name);
  }
  return left;
}
