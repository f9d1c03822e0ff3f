/** Why this machine cannot boot a container, if that is no fault of what is tested. */

import { existsSync, readFileSync } from "node:fs";
import process from "node:process";

/** The machine cannot do it; nothing was tested. */
export class CannotBoot extends Error {}

// capabilities(7)
const CAP_SYS_ADMIN = 21n;
const PROGRAMS = {
  "/usr/bin/systemd-nspawn": "systemd-container",
  "/usr/sbin/debootstrap": "debootstrap",
  "/usr/bin/dpkg-deb": "dpkg",
  "/usr/bin/ssh": "openssh-client",
  "/usr/bin/curl": "curl",
};

/** Throws `CannotBoot` unless containers can be tried here, and an error that says what to install if that is all that is missing. */
export function requireMachine(): void {
  if (process.geteuid?.() !== 0) throw new CannotBoot("only root can boot a container");
  const effective = /^CapEff:\s*(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  if (((BigInt(`0x${effective}`) >> CAP_SYS_ADMIN) & 1n) === 0n) throw new CannotBoot("CAP_SYS_ADMIN is missing");
  for (const [program, debianPackage] of Object.entries(PROGRAMS)) {
    if (!existsSync(program)) throw new Error(`${program} is missing: apt-get install ${debianPackage}`);
  }
}
