/** uam agent leave: ends what uam agent join began. */

import { chmodSync, existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { endLease } from "../../../agent/lease.ts";
import { hostOpener, madeHere, unknownIn } from "../../../agent/open-host.ts";
import { AGENT_DIRECTORY } from "../../../agent/paths.ts";
import { forgetAgent, readState } from "../../../agent/store.ts";
import { JOBS_ASIDE } from "../../../host/settings.ts";
import { planAgentRemoval, planAgentStop } from "../../../install/agent.ts";
import { LEASE_FILES } from "../../../install/lease-files.ts";
import { EXECUTED_PLACES, JOB_PLACES } from "../../../install/lease-script.ts";
import type { AccountRef, Host } from "../../../protocol/host.ts";
import { hostSettingsOf } from "../../../server/host-settings.ts";
import { publicMessage } from "../../../shared/errors.ts";
import { counted } from "../../../shared/text/counted.ts";
import { type CliEnvironment, commandLog, EXIT, loadConfig } from "../../terminal/environment.ts";
import { carryOut, findSshUnit } from "../service/carry-out.ts";
import { requireJoined } from "./agent-host.ts";

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
  const refs = madeHere(readState(AGENT_DIRECTORY), settings.markerGroup);
  const what = keep ? "Stop the agent" : `Remove ${counted(refs.length, "account")} with their homes, and the agent`;
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
  const left = await removeAll(environment, host, refs);
  for (const name of unknownIn(config.uidRange, refs)) {
    environment.err(`uam: ${name}: its uid is of the range of uam's accounts, but the agent does not know it\n`);
    left.push(name);
  }
  await carryOut(environment, planAgentRemoval({ sshUnit: findSshUnit(), accounts: left }), "do");
  if (left.length > 0) {
    const shut = "Until then sshd lets no account in whose name begins with ext_";
    environment.err(`Not removed: ${left.join(", ")}. Run uam agent leave again, or remove them by hand. ${shut}.\n`);
    return EXIT.failed;
  }
  giveJobsBack();
  forgetAgent(AGENT_DIRECTORY);
  environment.err(`This host has left ${identity.service}. There: uam host retire ${identity.name} --force\n`);
  return EXIT.done;
}

/** Returns the jobs that the end of the lease set aside. They belong to accounts that uam did not make: none of ours is left. */
function giveJobsBack(): void {
  for (const place of JOB_PLACES.filter((directory) => existsSync(directory))) {
    for (const name of readdirSync(place).filter((entry) => entry.startsWith(JOBS_ASIDE))) {
      const path = join(place, name.slice(JOBS_ASIDE.length));
      renameSync(join(place, name), path);
      if (EXECUTED_PLACES.includes(place)) chmodSync(path, 0o700);
    }
  }
}

/** Shuts all of them before it removes the first. Returns the names of those that are left, or whose keys sshd still reads. */
async function removeAll(environment: CliEnvironment, host: Host, refs: readonly AccountRef[]): Promise<string[]> {
  const left: string[] = [];
  const stays = (name: string, sentences: readonly string[]) => {
    environment.err(`uam: ${name}: ${sentences.join(". ")}\n`);
    left.push(name);
  };
  for (const ref of refs) await host.shutAccount(ref).catch(() => undefined);
  for (const ref of refs) {
    try {
      const { owed } = await host.removeAccount(ref);
      if (owed.length > 0) stays(ref.name, owed);
    } catch (error) {
      const sentences = [publicMessage(error), ...(await host.foreignKeys(ref))];
      // Now somebody else's, and without a key: nothing of ours is left of it.
      if (sentences.length > 1 || (await host.presence(ref)) === "present") stays(ref.name, sentences);
      else environment.err(`uam: ${ref.name}: ${publicMessage(error)}\n`);
    }
  }
  return left;
}
