/** Programs of this machine that the build runs. */

import { BuildError } from "./arguments.ts";

/** Runs a program to its end and returns its output; throws what it said unless it exits with 0. */
export function must(argv: readonly string[], variables: Readonly<Record<string, string>> = {}): string {
  const more = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const { success, stdout, stderr } = Bun.spawnSync(["env", "--", ...more, ...argv]);
  if (!success) throw new Error(`${argv.join(" ")} failed: ${stderr.toString()}`);
  return stdout.toString();
}

/** Throws a sentence unless each of the programs is here; by name, with its Debian package. */
export function requirePrograms(programs: Readonly<Record<string, string>>): void {
  for (const [name, debianPackage] of Object.entries(programs)) {
    if (Bun.which(name) === null) throw new BuildError(`${name} is missing: apt-get install ${debianPackage}`);
  }
}
