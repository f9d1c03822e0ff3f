/** One look at many accounts in sudo mode, by this very program as root, instead of several commands for each of them. */

import type { Account } from "../../protocol/host.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Layout } from "../settings.ts";
import { lookCommand } from "./sudo-commands.ts";
import { withInput } from "./sudo-key-file.ts";
import { runSudo } from "./sudo-run.ts";

/** How many at a time: with 50 keys each a few megabytes. */
const AT_ONCE = 500;

/** Implements `Executor.suspects`; if root does not answer, every account is a suspect. */
export async function suspectsByRoot(
  accounts: readonly Account[],
  { layout, program, log }: { readonly layout: Layout; readonly program: readonly string[]; readonly log: Log },
): Promise<readonly Account[]> {
  const suspects: Account[] = [];
  for (let start = 0; start < accounts.length; start += AT_ONCE) {
    const some = accounts.slice(start, start + AT_ONCE);
    const names = await differing(some, lookCommand(layout, program)).catch((error: unknown) => {
      log.warn("The accounts cannot be looked at together, so each is looked at on its own", {
        reason: publicMessage(error),
      });
      return undefined;
    });
    suspects.push(...(names === undefined ? some : some.filter(({ name }) => names.has(name))));
  }
  return suspects;
}

async function differing(
  accounts: readonly Account[],
  command: ReturnType<typeof lookCommand>,
): Promise<ReadonlySet<string>> {
  let names: ReadonlySet<string> = new Set();
  await withInput(JSON.stringify(accounts), async (input) => {
    const { exitCode, stdout, stderr } = await runSudo(command, { input });
    if (exitCode !== 0) throw new UamError("internal", stderr.trim().split("\n").at(-1) || `exit code ${exitCode}`);
    names = namesIn(stdout);
  });
  return names;
}

/** The names that root's answer lists. Throws `internal` where it is no list: then it proves of no account that it is as it should be. */
export function namesIn(answer: string): ReadonlySet<string> {
  const names: unknown = JSON.parse(answer);
  if (!Array.isArray(names)) throw new UamError("internal", "root's answer is no list");
  return new Set(names.map(String));
}
