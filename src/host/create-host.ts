/** Makes the host for the mode that is configured. */

import type { Host } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import type { Machine } from "../shared/kernel.ts";
import type { Log } from "../shared/log.ts";
import { isOurs, readAccounts } from "./account.ts";
import { createDirectExecutor } from "./execute/direct.ts";
import { createDryRunHost } from "./execute/dry-run.ts";
import { createSudoExecutor } from "./execute/sudo.ts";
import { checkSudo } from "./execute/sudo-check.ts";
import { runSudo } from "./execute/sudo-run.ts";
import { createManagedHost } from "./managed-host.ts";
import { openJournal } from "./processes/journal.ts";
import { type HostSettings, requireLayout } from "./settings.ts";
import { createKeyFilePatterns, detectExpiryFormat } from "./sshd/sshd.ts";
import { ownUid } from "./walk.ts";

/**
 * The host as the settings want it. Throws `invalid` for settings no host could have, for direct mode without root, and for
 * sudo mode without the rules it needs, each with what to do about it.
 * The version of the host's sshd is looked up once, here.
 */
export async function createHost(settings: HostSettings, log: Log, machine: Machine): Promise<Host> {
  requireLayout(settings);
  const expiry = await detectExpiryFormat(settings.tools);
  const journal = openJournal(settings.tools);
  switch (settings.mode) {
    case "dry-run":
      return createDryRunHost(settings, { expiry, patterns: createKeyFilePatterns(settings.tools) }, log);
    case "direct": {
      if (ownUid() !== 0) throw new UamError("invalid", "UAM_HOST_MODE=direct needs root: run as root, or use sudo");
      const patterns = createKeyFilePatterns(settings.tools);
      const means = {
        kernel: machine.openKernel(),
        isOurs: (uid: number) => isOurs(readAccounts(), uid, settings.markerGroup),
      };
      return createManagedHost({
        settings,
        executor: createDirectExecutor(log, means),
        journal,
        expiry,
        log,
        patterns,
      });
    }
    case "sudo": {
      const faults = await checkSudo(settings, machine.program);
      if (faults.length > 0) throw new UamError("invalid", faults.join(". "));
      const patterns = createKeyFilePatterns(settings.tools, (argv) => runSudo({ as: "root", argv }));
      return createManagedHost({
        settings: inSudo(settings),
        executor: createSudoExecutor(log, machine.program),
        journal,
        expiry,
        log,
        patterns,
      });
    }
  }
}

/** Proof of which key opened a session is root's to read, so in sudo mode a revocation ends them all. */
function inSudo(settings: HostSettings): HostSettings {
  return settings.revokeEnds === "key" ? { ...settings, revokeEnds: "account" } : settings;
}
