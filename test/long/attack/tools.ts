/** Other people's programs, run to their end. */

import { existsSync } from "node:fs";

export interface Said {
  readonly status: number | null;
  readonly text: string;
}

/** Throws, with what to install, unless all of Debian's packages are there. */
export function requirePrograms(programs: Readonly<Record<string, string>>): void {
  const missing = Object.entries(programs).filter(([path]) => !existsSync(path));
  if (missing.length === 0) return;
  throw new Error(
    `${missing.map(([path]) => path).join(", ")} missing: apt-get install ${missing.map(([, name]) => name).join(" ")}`,
  );
}

/** Runs an argv array, at most `seconds`. */
export async function say(argv: readonly string[], seconds: number): Promise<Said> {
  const child = Bun.spawn([...argv], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: seconds * 1000,
    killSignal: "SIGKILL",
  });
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status: child.exitCode, text: `${out}${error}` };
}
