/** Work in a process that is killed at one of its fault points: the database and the fake host stay as they are at that moment. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAULT_VARIABLE, type Fault, type FaultPoint } from "../../src/shared/work/fault-point.ts";
import type { TestApp } from "./app.ts";
import type { Asked, Deed, Order, Told } from "./killed-driver.ts";

const DRIVER = join(import.meta.dir, "killed-driver.ts");

/** Its passes of fault points, in their order. */
export async function tracePasses(app: TestApp, deed: Deed): Promise<readonly FaultPoint[]> {
  const directory = mkdtempSync(join(tmpdir(), "uam-killed-"));
  try {
    const into = join(directory, "trace");
    writeFileSync(into, "");
    const ended = await runWith(app, deed, { fault: { action: "trace", into }, file: join(directory, "fault") });
    if (ended !== "done") throw new Error(`it was to be done, and was ${ended}`);
    return readFileSync(into, "utf8").split("\n").slice(0, -1) as FaultPoint[];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Does it in a process that dies at the `nth` pass of that point; whether it got there. */
export async function killAt(app: TestApp, deed: Deed, point: FaultPoint, nth: number): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), "uam-killed-"));
  try {
    const fault = { point, nth, action: "kill" } as const;
    return (await runWith(app, deed, { fault, file: join(directory, "fault") })) === "killed";
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function runWith(
  app: TestApp,
  deed: Deed,
  { fault, file }: { readonly fault: Fault; readonly file: string },
): Promise<"done" | "killed" | "failed"> {
  writeFileSync(file, JSON.stringify(fault));
  const works: Promise<unknown>[] = [];
  const heard = Promise.withResolvers<void>();
  const child = Bun.spawn([process.execPath, DRIVER], {
    env: { ...process.env, [FAULT_VARIABLE]: file },
    stdio: ["ignore", "inherit", "inherit"],
    serialization: "advanced",
    ipc: (asked: Asked, asking) => {
      const work = answer(app, asked).then((told) => asking.send(told));
      // It has died meanwhile: the host has done it all the same.
      works.push(work.catch(() => undefined));
    },
    onDisconnect: () => heard.resolve(),
  });
  const { terms: _, ...policy } = app.services.policy;
  child.send({ deed, connection: app.connection, policy, now: app.clock.now() } satisfies Order);
  const status = await child.exited;
  // What it asked for last may still be on its way, or under way on the host.
  await heard.promise;
  await Promise.all(works);
  return child.signalCode === "SIGKILL" ? "killed" : status === 0 ? "done" : "failed";
}

async function answer({ host }: TestApp, { id, method, args }: Asked): Promise<Told> {
  try {
    const found = (host as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[method];
    return { id, result: await found?.(...args) };
  } catch (error) {
    return { id, refusal: (error as Error).message };
  }
}
