/** Adopting accounts that somebody else made, as root. */

import type { Adopter } from "../../protocol/adoption.ts";
import type { Log } from "../../shared/log.ts";
import type { Machine } from "../../shared/system/kernel.ts";
import { directExecutor } from "../create-host.ts";
import type { HostSettings } from "../settings.ts";
import { lookAtAccount } from "./look.ts";
import { markRecord, readAdoption, readAdoptions, removeRecord } from "./record.ts";
import { giveAccountBack, type Means, takeAccount } from "./take.ts";

/** For the service's own host, whose accounts root changes itself; `directory` is root's, and holds what is written down. */
export function createAdopter(
  settings: HostSettings,
  { log, machine, directory }: { readonly log: Log; readonly machine: Machine; readonly directory: string },
): Adopter {
  const means: Means = { settings, executor: directExecutor(settings, log, machine), directory };
  return {
    look: (name, wanted) => lookAtAccount(settings, name, wanted),
    take: (account, wanted) => takeAccount(means, account, wanted),
    giveBack: (uid) => giveAccountBack(means, uid),
    adoptions: () => readAdoptions(directory),
    adoption: (uid) => readAdoption(directory, uid),
    mark: (uid, state) => markRecord(directory, uid, state),
    forget: (uid) => removeRecord(directory, uid),
  };
}
