/** What root does with accounts that somebody else made. */

import type { Adopter } from "../../protocol/adoption.ts";
import type { HostSettings } from "../settings.ts";
import { lookAtAccount } from "./look.ts";

/** For the service's own host; its accounts are looked at as root. */
export function createAdopter(settings: HostSettings): Adopter {
  return {
    look: (name, wanted) => lookAtAccount(settings, name, wanted),
  };
}
