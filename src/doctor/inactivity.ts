/** Whether the service can know that somebody does not use their access, if it is to end that. */

import { provesLogins } from "../domain/lifecycle/inactivity.ts";
import type { Services } from "../domain/operation/context.ts";
import { readSetting } from "../domain/settings/settings.ts";
import { areaOf, type Finding } from "./finding.ts";

const REMEDY =
  "let the service read sshd's log in the journal, which dry-run mode does not, or uam setting unset policy.inactive_after";

/** A fault if `policy.inactive_after` is set and nothing proves logins; nothing if it is off. */
export async function checkInactivity(services: Services): Promise<readonly Finding[]> {
  const after = await readSetting(services, services.db, "policy.inactive_after");
  if (after === 0) return [];
  const area = areaOf("inactivity");
  if (await provesLogins(services)) return [area.ok("Unused access is found by sshd's log")];
  return [area.fault("policy.inactive_after is set, and no log proves logins here: nobody counts as inactive", REMEDY)];
}
