/** Shared by the commands that install something. */

import { existsSync } from "node:fs";
import type { Outcome, TakeBack } from "../../../install/apply.ts";
import { describePlan, type Step } from "../../../install/plan.ts";
import { UamError } from "../../../shared/errors.ts";
import { isSystemdHost } from "../../../shared/system/systemd.ts";
import type { CliEnvironment } from "../../terminal/environment.ts";

const SSH_UNITS = ["ssh.service", "sshd.service"] as const;
const UNIT_DIRECTORIES = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"] as const;

/** The path of the built program; throws `invalid` from source. */
export function programOf({ program }: CliEnvironment): string {
  if (program !== undefined) return program;
  throw new UamError("invalid", "Only the built program can be installed: run `bun run build`, then dist/uam install");
}

/** `print` shows the plan, `do` carries it out, and `first` does so for a first installation: a failure leaves nothing behind. */
export type How = "print" | "do" | "first";

/** Of what a step removes, "unchanged" would read as if it were there. */
const REMOVAL: Partial<Record<Outcome, string>> = { changed: "removed", unchanged: "not there" };

/** Carries out the plan and returns what takes it back; undefined if it was printed. Throws `invalid` without root or systemd. */
export async function carryOut(
  environment: CliEnvironment,
  steps: readonly Step[],
  how: How,
): Promise<TakeBack | undefined> {
  if (how === "print") {
    environment.out(describePlan(steps));
    return undefined;
  }
  if (!environment.isRoot) throw new UamError("invalid", "This needs root; --dry-run shows what it would do");
  if (!isSystemdHost()) throw new UamError("invalid", "This host does not run systemd");
  const { applyPlan } = await import("../../../install/apply.ts");
  return await applyPlan(steps, {
    root: "",
    isFirst: how === "first",
    report: (step, outcome) => {
      const said = step.kind === "remove" ? REMOVAL[outcome] : undefined;
      environment.err(`${(said ?? outcome).padEnd(10)} ${"path" in step ? step.path : step.argv.join(" ")}\n`);
    },
  });
}

/** The unit of the host's sshd; undefined if it has none. */
export function findSshUnit(): string | undefined {
  return SSH_UNITS.find((unit) => UNIT_DIRECTORIES.some((directory) => existsSync(`${directory}/${unit}`)));
}
