/** The host's settings, taken from the configuration field by field, because it also holds secrets that must not reach the host. */

import type { Config } from "../config/config.ts";
import { type HostSettings, MARKER_GROUP } from "../host/settings.ts";

export function hostSettingsOf(config: Config): HostSettings {
  return {
    mode: config.hostMode,
    homeBase: config.homeBase,
    shell: config.shell,
    groups: config.groups,
    authorizedKeysFile: config.authorizedKeysFile,
    revokeEnds: config.revokeEnds,
    uidRange: config.uidRange,
    markerGroup: MARKER_GROUP,
    // Also for what root does there: the service could not undo it.
    homesStay: config.hostMode === "sudo",
  };
}
