/** Programs run to their end, each with a limit on its time. */

const KILLED = 137;

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an argv array, at most `seconds`, and gives what it said; 137 stands for any signal that ended it. */
export async function run(argv: readonly string[], seconds: number, input = ""): Promise<Outcome> {
  const child = Bun.spawn([...argv], {
    stdin: new TextEncoder().encode(input),
    stdout: "pipe",
    stderr: "pipe",
    timeout: seconds * 1000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  // Null if a signal ended it.
  return { status: child.exitCode ?? KILLED, stdout, stderr };
}

/** As `run`; throws what the program said unless it ends with 0. */
export async function must(argv: readonly string[], seconds: number): Promise<string> {
  const { status, stdout, stderr } = await run(argv, seconds);
  if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
