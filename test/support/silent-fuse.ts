/** A FUSE mount whose server never answers, such as an account's owner can have in their home. */

import { spawn, spawnSync } from "node:child_process";
import { mountsWithin, readMounts } from "../../src/host/safe-open.ts";
import { HANG } from "./hang.ts";

/** Does the work while it is mounted as the uid's own; does nothing if there is no FUSE. */
export async function withSilentFuse(
  path: string,
  uid: number,
  work: (mounted: () => boolean) => Promise<void>,
): Promise<void> {
  const point = path.replace(/\/$/, "");
  const options = `fd=3,rootmode=40000,user_id=${uid},group_id=${uid}`;
  const script = `exec 3<>/dev/fuse && mount -i -t fuse -o ${options} uam-test ${point} && exec sleep 300`;
  const server = spawn("/bin/sh", ["-c", script], { stdio: "ignore" });
  const mounted = () => mountsWithin(readMounts(), point).length > 0;
  try {
    const end = performance.now() + HANG;
    while (!mounted() && server.exitCode === null && performance.now() < end) await Bun.sleep(20);
    if (mounted()) await work(mounted);
  } finally {
    if (mounted()) spawnSync("umount", ["-l", point]);
    server.kill("SIGKILL");
  }
}
