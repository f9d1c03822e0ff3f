/** uam agent: the agent on each further host of a service. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, multiple, optional } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { oneOf } from "../../terminal/arguments.ts";
import type { Command } from "../../terminal/environment.ts";
import { yesFlag } from "../users/confirmed.ts";
import { jobsCommand } from "../users/jobs.ts";

const join = command(
  "join",
  map(
    object({
      line: multiple(
        argument(string({ metavar: "LINE" }), {
          description: message`What uam host token printed at the service: its address, a token, and the fingerprint of its key. - reads it from standard input, where no other process sees it. Without it, a host that has joined is set up again, for example after an update.`,
        }),
        { max: 3 },
      ),
      mode: optional(
        option("--mode", oneOf(["direct", "sudo", "dry-run"], "MODE"), {
          description: message`direct (the default): the agent runs as root. sudo: it runs as uam, and changes the host through sudo. dry-run: it only logs what it would do.`,
        }),
      ),
      name: optional(
        option("--name", string({ metavar: "NAME" }), {
          description: message`What the host is called at the service, unless the token says; by default its host name.`,
        }),
      ),
      ca: optional(
        option("--ca", string({ metavar: "FILE" }), {
          description: message`Certificates to trust in place of the system's, in PEM format. They are copied.`,
        }),
      ),
      again: option("--again", {
        description: message`Join although the host has joined before. Its accounts stay as the service wants them.`,
      }),
      noStart: option("--no-start", { description: message`Do not start the agent yet.` }),
      dryRun: option("--dry-run", { description: message`Print every file and command, and change nothing.` }),
    }),
    (input): Command =>
      async (environment) =>
        (await import("./agent-join.ts")).joinHost(environment, input),
  ),
  {
    brief: message`Make this a host of a service.`,
    description: message`Checks that the service is the one of the line, installs the agent on this systemd host, and enrols it. From then on sshd lets external accounts in only while the service says so. Run it as root.`,
  },
);

const run = command(
  "run",
  map(object({}), (): Command => async (environment) => (await import("./agent-run.ts")).runTheAgent(environment)),
  {
    brief: message`Run the agent; the unit does.`,
    description: message`Follows the service's orders on this host until SIGTERM.`,
  },
);

const status = command(
  "status",
  map(
    object({ json: option("--json", { description: message`Print JSON.` }) }),
    ({ json }): Command =>
      async (environment) =>
        (await import("./agent-status.ts")).showAgent(environment, json),
  ),
  {
    brief: message`Show whether the service answers, and until when this host is open.`,
    description: message`Run it as root. Exits 1 if no external account can log in now.`,
  },
);

const hold = command(
  "hold",
  map(
    object({
      duration: argument(string({ metavar: "DURATION" }), {
        description: message`For how long, e.g. 12h; at most 7d.`,
      }),
      reason: option("--reason", string({ metavar: "TEXT" }), { description: message`Why; the service records it.` }),
    }),
    (input): Command =>
      async (environment) =>
        (await import("./agent-hold.ts")).holdHost(environment, input),
  ),
  {
    brief: message`Keep this host open although the service cannot be reached.`,
    description: message`External accounts may log in until then, even if the lease ends. What the service revokes meanwhile is not known here. Ends at a reboot. Recorded by the service at the next contact. Run it as root.`,
  },
);

const leave = command(
  "leave",
  map(
    object({
      keep: option("--keep", {
        description: message`Only stop the agent. The accounts stay until the lease ends, and then nobody can log in to them.`,
      }),
      yes: yesFlag(),
    }),
    (input): Command =>
      async (environment) =>
        (await import("./agent-leave.ts")).leaveService(environment, input),
  ),
  {
    brief: message`Remove this host's accounts and its agent.`,
    description: message`Shuts and removes every account that uam made here, with its home, and removes the agent. Tell the service with uam host retire. Run it as root.`,
  },
);

export const agentCommand = command("agent", or(join, run, status, hold, jobsCommand, leave), {
  brief: message`Run and look after the agent on a further host.`,
});
