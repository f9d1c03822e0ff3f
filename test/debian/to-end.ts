/** Tests that are programs of their own: they clean up and end with an exit code. */

import process from "node:process";

export interface TestProgram {
  /** Its name on the terminal. */
  readonly name: string;
  /** Throws what is wrong; returns whether everything was tested. */
  readonly main: () => Promise<"tested" | "not tested">;
  /** Ends and removes what it has left. */
  readonly cleanUp: () => Promise<void>;
  /** Milliseconds after which it counts as failed. */
  readonly limit?: number;
}

/** Runs the test and ends this process: with 1 if it throws, takes too long or is stopped by a signal, else with 0. */
export async function runToEnd({ name, main, cleanUp, limit }: TestProgram): Promise<never> {
  const end = async (code: number): Promise<never> => {
    await cleanUp();
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      console.error(`Ended by ${signal}.`);
      void end(1);
    });
  }
  if (limit !== undefined) {
    setTimeout(() => {
      console.error(`FAIL  not done after ${limit / 60_000} minutes`);
      void end(1);
    }, limit);
  }
  try {
    const outcome = await main();
    if (outcome === "tested") console.log(`${name}: all is well (${(performance.now() / 1000).toFixed(0)} s).`);
    return await end(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return await end(1);
  }
}
