/** Programs run to their end, each with a limit on its time. */

import process from "node:process";

const KILLED = 137;

/** Runs a program as root in namespaces of its own: whatever ends it or us, everything it started and mounted disappears with it. */
export const ENCLOSED: readonly string[] = [
  ...["setpriv", "--pdeathsig", "KILL"],
  ...["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"],
];

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an argv array, at most `seconds`, and returns its output; 137 stands for any signal that ended it. */
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

/** Like `run`; throws the program's output unless it exits with 0. */
export async function must(argv: readonly string[], seconds: number): Promise<string> {
  const { status, stdout, stderr } = await run(argv, seconds);
  if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** Ends what was started from here and still runs, so that `directory`, which is in its arguments, can be removed. */
export async function endChildren(directory: string): Promise<void> {
  await run(["pkill", "--signal", "KILL", "--parent", String(process.pid)], 5);
  const end = performance.now() + 10_000;
  while (performance.now() < end && (await run(["pgrep", "--full", directory], 5)).status === 0) await Bun.sleep(50);
}
