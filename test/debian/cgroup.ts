/**
 * Control groups of a container's own. Without a systemd on the outside, nspawn leaves a container in the group it was started
 * in: two of them would share every service's group, and what one ends would end in the other.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { CannotBoot } from "./cannot-boot.ts";

/** Milliseconds for the kernel to see that the last process of a group is gone. */
const PATIENCE = 5000;

/** Groups, one in each hierarchy that systemd uses: its own of version 1, and version 2's. */
export interface OwnCgroups {
  /** The files into which a process writes 0 to move there. */
  readonly entrances: readonly string[];
  /** Removes them with all below; to be called when everything in them has ended. */
  remove(): Promise<void>;
}

/** Makes groups of that name below this process's own. Throws `CannotBoot` where this process may not. */
export function makeCgroups(name: string): OwnCgroups {
  const groups = ownGroups().map((group) => join(group, name));
  try {
    for (const group of groups) mkdirSync(group, { recursive: true });
  } catch (error) {
    throw new CannotBoot(`no control group can be made for it: ${String(error)}`);
  }
  return {
    entrances: groups.map((group) => join(group, "cgroup.procs")),
    remove: async () => {
      const end = performance.now() + PATIENCE;
      for (;;) {
        try {
          for (const group of groups) removeTree(group);
          return;
        } catch (error) {
          if (performance.now() > end) throw error;
          await Bun.sleep(100);
        }
      }
    },
  };
}

/** Where this process is in those hierarchies (cgroups(7)). */
function ownGroups(): readonly string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  return readFileSync("/proc/self/cgroup", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .flatMap(([, controllers, ...path]) => {
      const isWanted = (fields: readonly string[]) =>
        controllers === "" ? fields.at(-3) === "cgroup2" : fields.at(-1)?.split(",").includes("name=systemd");
      const mount = controllers === "" || controllers === "name=systemd" ? mounts.find(isWanted)?.[4] : undefined;
      return mount === undefined ? [] : [join(mount, path.join(":"))];
    });
}

/** The files of a group go with it. Does nothing where it is gone already. */
function removeTree(group: string): void {
  if (!existsSync(group)) return;
  for (const entry of readdirSync(group, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(group, entry.name));
  }
  rmdirSync(group);
}
