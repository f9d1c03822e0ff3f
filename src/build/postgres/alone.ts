/** One builds in a cache at a time, also if it is shared with containers. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { BuildError } from "../arguments.ts";

const SOON = 1000;

/**
 * Works while nobody else does who names the same file, and says so if it has to wait. The lock ends with this process, however that ends.
 * Throws a sentence if the file cannot be locked.
 */
export async function alone<T>(file: string, work: () => Promise<T>): Promise<T> {
  // Has the lock as soon as it answers, and gives it back when there is nothing more to read from this process.
  const holder = spawn("flock", [file, "cat"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(holder, "close");
  holder.stdin.write("\n");
  const notice = setTimeout(() => console.log(`waiting for another build, which has ${file} locked`), SOON);
  const answer = await Promise.race([once(holder.stdout, "data"), ended.then(() => undefined)]).finally(() =>
    clearTimeout(notice),
  );
  if (answer === undefined) throw new BuildError(`${file} cannot be locked.`);
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}
