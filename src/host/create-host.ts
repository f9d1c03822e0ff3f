/** Creates the host for the configured mode. */

import type { Host } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";
import type { Machine } from "../shared/system/kernel.ts";
import { isOurs, readAccounts } from "./account.ts";
import type { runCommand } from "./command.ts";
import { testFileCommands } from "./execute/command-self-test.ts";
import { createDirectExecutor } from "./execute/direct.ts";
import { createDryRunExecutor } from "./execute/dry-run.ts";
import { createSudoExecutor } from "./execute/sudo.ts";
import { checkSudo } from "./execute/sudo-check.ts";
import { runSudo } from "./execute/sudo-run.ts";
import { attempt, type Executor } from "./executor.ts";
import type { HostContext } from "./host-context.ts";
import { createManagedHost } from "./managed-host.ts";
import { EXAMPLE, trashBases } from "./plan/plan.ts";
import { openJournal } from "./processes/journal.ts";
import { openLoginLog } from "./processes/login-log.ts";
import { openRefusalLog } from "./processes/refused-logins.ts";
import { ownUid } from "./safe-open.ts";
import { type HostSettings, requireLayout } from "./settings.ts";
import { createHostKeys } from "./sshd/host-keys.ts";
import { createKeyFilePatterns, detectExpiryFormat } from "./sshd/sshd.ts";

/**
 * The host for these settings. Throws `invalid` for settings that no host could have, for direct mode without root, and for
 * sudo mode without the rules it needs, each time with what to do about it.
 * The version of the host's sshd is looked up once, here.
 */
export async function createHost(given: HostSettings, log: Log, machine: Machine): Promise<Host> {
  const settings = given.mode === "sudo" ? { ...given, homesStay: true } : given;
  requireLayout(settings);
  const expiry = await detectExpiryFormat(settings.tools);
  switch (settings.mode) {
    case "dry-run": {
      const sshd = askSshd(settings.tools);
      return createManagedHost({ settings, executor: createDryRunExecutor(settings, log), expiry, log, ...sshd });
    }
    case "direct": {
      if (ownUid() !== 0) throw new UamError("invalid", "UAM_HOST_MODE=direct needs root: run as root, or use sudo");
      const executor = directExecutor(settings, log, machine);
      const { lockFile } = machine.openKernel();
      return await prepared({ settings, executor, expiry, log, lockFile, ...askSshd(settings.tools) });
    }
    case "sudo": {
      const faults = await checkSudo(settings, machine.program);
      if (faults.length > 0) throw new UamError("invalid", faults.join(". "));
      // No reason not to start: shutting accounts needs none of these programs.
      const { fault } = await testFileCommands();
      if (fault !== undefined) log.error(`${fault.finding}: ${fault.remedy}`);
      const sshd = askSshd(settings.tools, (argv) => runSudo({ as: "root", argv }));
      const executor = createSudoExecutor(log, machine.program, settings);
      return await prepared({ settings, executor, expiry, log, ...sshd });
    }
  }
}

/** Changes the host as root. */
export function directExecutor({ tools, markerGroup }: HostSettings, log: Log, machine: Machine): Executor {
  return createDirectExecutor(log, {
    kernel: machine.openKernel(),
    isOurs: (uid: number) => isOurs(readAccounts(), uid, markerGroup),
    journal: openJournal(tools),
    loginLog: openLoginLog(tools),
    refusalLog: openRefusalLog(tools),
  });
}

/** The settings read from sshd, which answers only root. */
function askSshd(tools: HostSettings["tools"], run?: typeof runCommand): Pick<HostContext, "patterns" | "hostKeys"> {
  return { patterns: createKeyFilePatterns(tools, run), hostKeys: createHostKeys(tools, run) };
}

/**
 * Prepares what taking access away needs, because later there may be no disk space or process left for it: the trash, and
 * sshd's answer on which files it reads.
 */
async function prepared(context: HostContext): Promise<Host> {
  const { settings, executor, log, patterns } = context;
  for (const base of trashBases(settings)) {
    if (!executor.view.exists(base)) continue;
    const problem = await attempt(() => executor.apply({ kind: "make-trash", base }), log);
    if (problem !== undefined) log.warn(`The trash for what is deleted cannot be created: ${problem}`);
  }
  await patterns.of(EXAMPLE.name);
  return createManagedHost(context);
}
