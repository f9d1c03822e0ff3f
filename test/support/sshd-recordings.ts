/** What sshd of several versions said of its settings, recorded: `sshd -T -C user=ext_probe,…` on Debian. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Debian 12, 13, 13's backports, and forky. */
export const RECORDED_VERSIONS = ["9.2", "10.0", "10.3", "10.6"] as const;

/** `default`: as Debian configures it; `installed`: with the drop-in of a direct installation. */
export function sshdSaid(version: (typeof RECORDED_VERSIONS)[number], how: "default" | "installed"): string {
  return readFileSync(join(import.meta.dir, `../testdata/sshd/openssh-${version}-${how}.txt`), "utf8");
}
