/** uam user jobs and uam agent jobs: root's copies of the jobs that were removed from an account of this host. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import type { KeptJob, KeptJobs } from "../../../host/jobs/kept-jobs.ts";
import { UamError } from "../../../shared/errors.ts";
import { hostAccountOf, USERNAME, withoutPrefix } from "../../../shared/text/account-name.ts";
import { counted } from "../../../shared/text/counted.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { stored } from "../../terminal/completion.ts";
import { type CliEnvironment, type Command, EXIT } from "../../terminal/environment.ts";
import { printJson, shortTime, visible } from "../../terminal/output.ts";

/** The same command on the service's own host and on others: it prints a file of the host, which is not stored elsewhere. */
export const jobsCommand = command(
  "jobs",
  map(
    object({
      user: argument(stored("NAME", "users"), {
        description: message`The user's name, also of one who was deleted.`,
      }),
      json: jsonFlag(),
    }),
    (input) => runJobs(input),
  ),
  {
    brief: message`Show which jobs were removed from a user's account on this host.`,
    description: message`Crontab, at jobs and lingering go with each revocation, and when an account is shut. Root's copy is kept for 30 days. Shows those of this host, the newest last; content that is not text is shown with escapes, and is whole with --json. Run it as root.`,
  },
);

interface Input {
  readonly user: string;
  readonly json: boolean;
}

function runJobs({ user, json }: Input): Command {
  return async (environment) => {
    if (!environment.isRoot) throw new UamError("invalid", "This needs root");
    const username = withoutPrefix(user);
    if (!USERNAME.test(username)) throw new UamError("invalid", `Not a username: ${JSON.stringify(user)}`);
    const account = hostAccountOf(username);
    const { readKeptJobs } = await import("../../../host/jobs/kept-jobs.ts");
    printKeptJobs(environment, account, { copies: readKeptJobs(account), json });
    return EXIT.done;
  };
}

/** Prints the copies. Each line of a file has a mark in front, so that no content looks like another file's beginning. */
export function printKeptJobs(
  environment: Pick<CliEnvironment, "out" | "err">,
  account: string,
  { copies, json }: { readonly copies: readonly KeptJobs[]; readonly json: boolean },
): void {
  if (json) printJson(environment, { items: copies });
  else if (copies.length === 0)
    environment.err(`No jobs of ${account} were removed on this host in the last 30 days, or none were kept.\n`);
  for (const { removed_at, uid, lingering, files, more } of json ? [] : copies) {
    environment.out(`Removed from ${account} (uid ${uid}) at ${shortTime(removed_at)}:\n`);
    if (lingering) environment.out("  lingering was on\n");
    for (const file of files) printFile(environment, file);
    if (more > 0) environment.out(`  and ${counted(more, "more file")}, of which there is no copy\n`);
  }
}

function printFile({ out }: Pick<CliEnvironment, "out">, file: KeptJob): void {
  const { path, bytes, modified_at, problem, cut, encoding } = file;
  const content = Buffer.from(file.content, encoding);
  const length = counted(bytes, "byte");
  out(`  ${visible(path)}, ${length}, changed at ${shortTime(modified_at)}\n`);
  if (problem !== null) out(`    it could not be read: ${visible(problem)}\n`);
  // The end of the last line begins none.
  const lines = content.toString("utf8").replace(/\n$/, "").split("\n");
  if (content.length > 0) for (const line of lines) out(`    | ${showTabs(line)}\n`);
  if (cut && problem === null) out(`    only the first ${counted(content.length, "byte")} were kept\n`);
}

/** Tabs stand between a crontab's fields. */
function showTabs(line: string): string {
  return line.split("\t").map(visible).join("\t");
}
