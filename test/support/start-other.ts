/** Starts a program with uids in a way that most do not have them. Needs root. */

import { spawn } from "node:child_process";
import { join } from "node:path";

/** Starts `other-uids`, and resolves once it is what it is to be. */
export async function startOther(way: "effective" | "thread" | "forks", starter: number, uid: number): Promise<void> {
  const program = join(import.meta.dir, "other-uids.ts");
  const child = spawn(process.execPath, [program, way, String(starter), String(uid)], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
    cwd: "/",
  });
  child.unref();
  await new Promise((resolve) => child.stdout?.once("data", resolve));
}
