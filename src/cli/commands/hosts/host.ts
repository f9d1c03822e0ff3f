/** uam host: the machines that have accounts. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import type { HostChanges, HostDetail } from "../../../domain/hosts/hosts.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { HOST_STATUSES } from "../../../shared/product/statuses.ts";
import { jsonFlag, oneOf, pageOptions, textOption } from "../../terminal/arguments.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printPage, printRecord, printTable, shortTime } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";
import { yesFlag } from "../users/confirmed.ts";
import { hostGroupCommand } from "./host-group.ts";
import { hostSessionCommands } from "./host-sessions.ts";
import { groupOption, hostArgument, leaseOf, leaseOption, refOf } from "./lease-option.ts";

const list = command(
  "list",
  map(
    object({
      ...pageOptions(),
      search: textOption("--search", "TEXT", message`Only hosts with this text in their name.`),
      group: groupOption(message`Only hosts in this group.`),
      status: optional(
        option("--status", oneOf(HOST_STATUSES, "STATUS"), {
          description: message`Only hosts with this status.`,
        }),
      ),
      json: jsonFlag(),
    }),
    (input) => runList(input),
  ),
  { brief: message`List the hosts, and whether they are heard of.` },
);

const show = command(
  "show",
  map(
    object({ host: hostArgument(), json: jsonFlag() }),
    ({ host, json }): Command =>
      async (environment) => {
        const { getHost } = await import("../../../domain/hosts/hosts.ts");
        const { detail, site } = await withServices(environment, "read", async (context) => ({
          detail: await getHost(context, refOf(host)),
          site: context.policy.site,
        }));
        return await printHost(environment, { detail, site, json });
      },
  ),
  { brief: message`Show a host, and what is wrong with it.` },
);

const token = command(
  "token",
  map(
    object({
      name: textOption("--name", "NAME", message`What the host is to be called; by default its own name.`),
      group: groupOption(message`The group that it joins; without this, none.`),
      json: jsonFlag(),
    }),
    (input) => runToken(input),
  ),
  {
    brief: message`Make the line that joins a host.`,
    description: message`Prints a line for uam agent join, which is run as root on the host that is to join. It can be used once, within 30 minutes; whoever has it can add a host, which gets the accounts of its group.`,
  },
);

const update = command(
  "update",
  map(
    object({
      host: hostArgument(),
      name: textOption("--name", "NAME", message`The new name.`),
      lease: leaseOption(),
      leaseEnds: optional(
        option("--lease-ends", oneOf(["logins", "sessions"] as const, "WHAT"), {
          description: message`What ends with the lease: logins, or sessions that are open, too.`,
        }),
      ),
      json: jsonFlag(),
    }),
    ({ host, json, lease, ...changes }) =>
      changing(host, json, async (context, ref) => {
        const { updateHost } = await import("../../../domain/hosts/hosts.ts");
        const wanted: HostChanges = { ...changes, lease: leaseOf(lease) };
        return await updateHost(context, ref, wanted);
      }),
  ),
  { brief: message`Change a host's name or lease.` },
);

const lock = command(
  "lock",
  map(object({ host: hostArgument(), json: jsonFlag() }), ({ host, json }) =>
    changing(host, json, async (context, ref) =>
      (await import("../../../domain/hosts/hosts.ts")).lockHost(context, ref),
    ),
  ),
  {
    brief: message`Shut a host as a whole.`,
    description: message`Lets nobody into any account of the host, from when its agent learns of it; one that is cut off shuts when its lease ends. The accounts stay.`,
  },
);

const unlock = command(
  "unlock",
  map(object({ host: hostArgument(), json: jsonFlag() }), ({ host, json }) =>
    changing(host, json, async (context, ref) =>
      (await import("../../../domain/hosts/hosts.ts")).unlockHost(context, ref),
    ),
  ),
  {
    brief: message`Open a locked host again.`,
    description: message`Opens a locked host again. Its agent keeps its key: if the host was locked because that was copied, and not because its disk was set back, retire it with --force instead, and join it anew.`,
  },
);

const retire = command(
  "retire",
  map(
    object({
      host: hostArgument(),
      force: option("--force", {
        description: message`Forget the host at once, without its agent. Its accounts stay there, and it shuts only when its lease ends.`,
      }),
      yes: yesFlag(),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    (input) => runRetire(input),
  ),
  {
    brief: message`Remove all accounts of a host, and forget it.`,
    description: message`Shuts and removes all accounts of a host with their home directories, and forgets it once its agent has confirmed that. Asks first, unless --yes is given.`,
  },
);

export const hostCommand = command(
  "host",
  or(or(list, show, token, update, lock, unlock, retire, hostGroupCommand), hostSessionCommands),
  { brief: message`Manage hosts and their groups.` },
);

type HostRecord = ReturnType<typeof import("../../../server/fleet-records.ts").hostRecord>;

const COLUMNS: readonly Column<HostRecord>[] = [
  { header: "ID", value: (host) => host.id },
  { header: "NAME", value: (host) => host.name, narrow: "cut" },
  { header: "STATUS", value: (host) => host.status },
  { header: "PROBLEMS", value: (host) => host.problems },
  { header: "LAST SEEN", value: (host) => (host.kind === "local" ? "here" : shortTime(host.last_seen_at)) },
  { header: "LEASE", value: (host) => host.lease ?? "-" },
  { header: "GROUPS", value: (host) => host.groups.join(" ") || "-", narrow: "either" },
  { header: "OPEN UNTIL", value: (host) => shortTime(host.lease_until), narrow: "drop" },
  { header: "VERSION", value: (host) => host.version || "-", narrow: "drop" },
];

interface ListInput {
  readonly page: number;
  readonly pageSize: number;
  readonly search: string | undefined;
  readonly group: string | undefined;
  readonly status: (typeof HOST_STATUSES)[number] | undefined;
  readonly json: boolean;
}

function runList({ json, page, pageSize, ...filter }: ListInput): Command {
  return async (environment) => {
    const { pageHosts } = await import("../../../domain/hosts/hosts.ts");
    const { hostRecord } = await import("../../../server/fleet-records.ts");
    const { total, items } = await withServices(environment, "read", async (context) => {
      const found = await pageHosts(context, filter, { page, pageSize });
      return { ...found, items: found.items.map((host) => hostRecord(host, context.policy.site)) };
    });
    await printPage(environment, COLUMNS, { json, page, pageSize, total, records: items });
    return EXIT.done;
  };
}

interface TokenInput {
  readonly name: string | undefined;
  readonly group: string | undefined;
  readonly json: boolean;
}

function runToken({ json, ...wanted }: TokenInput): Command {
  return async (environment) => {
    const { createJoinToken } = await import("../../../domain/wire/join-tokens.ts");
    const { joinLineRecord } = await import("../../../server/fleet-records.ts");
    const made = joinLineRecord(
      await withServices(environment, "store", (context) => createJoinToken(context, wanted)),
    );
    if (json) printJson(environment, made);
    else {
      const until = shortTime(made.expires_at);
      environment.err(
        `On the host that is to join, as root: uam agent join with this line, in quotes. It works once, until ${until}.\n`,
      );
      environment.out(`${made.line}\n`);
    }
    return EXIT.done;
  };
}

function changing(
  host: string,
  json: boolean,
  change: (context: Context, ref: string | number) => Promise<HostDetail>,
): Command {
  return async (environment) => {
    const { detail, site } = await withServices(environment, "store", async (context) => ({
      detail: await change(context, refOf(host)),
      site: context.policy.site,
    }));
    return await printHost(environment, { detail, site, json });
  };
}

interface Shown {
  readonly detail: HostDetail;
  readonly site: Context["policy"]["site"];
  readonly json: boolean;
}

type Problem = ReturnType<typeof import("../../../server/fleet-records.ts").hostProblemRecord>;

const PROBLEM_COLUMNS: readonly Column<Problem>[] = [
  { header: "SINCE", value: (problem) => shortTime(problem.since) },
  { header: "KIND", value: (problem) => problem.kind },
  { header: "ACCOUNT", value: (problem) => problem.account || "-" },
  { header: "PROBLEM", value: (problem) => problem.text, narrow: "cut" },
];

async function printHost(environment: CliEnvironment, { detail, site, json }: Shown): Promise<number> {
  const { hostDetailRecord } = await import("../../../server/fleet-records.ts");
  const record = hostDetailRecord(detail, site);
  if (json) {
    printJson(environment, record);
    return EXIT.done;
  }
  const { problems, groups, accounts, host_keys, ...fields } = record;
  printRecord(environment, {
    ...fields,
    groups: groups.join(" "),
    host_keys: host_keys.join(", "),
    accounts: `${accounts.total}, of which ${accounts.open} open`,
    problems: problems.length,
  });
  if (problems.length > 0) {
    environment.out("\n");
    await printTable(environment, PROBLEM_COLUMNS, problems);
  }
  return EXIT.done;
}

interface RetireInput {
  readonly host: string;
  readonly force: boolean;
  readonly yes: boolean;
  readonly preview: boolean;
  readonly json: boolean;
}

function runRetire({ host, force, yes, preview, json }: RetireInput): Command {
  return async (environment) => {
    const { ask } = environment;
    const { previewRetirement, retireHost } = await import("../../../domain/hosts/retirement.ts");
    const { fleetPreviewRecord, retirementRecord } = await import("../../../server/fleet-records.ts");
    if (preview) {
      const found = await withServices(environment, "read", (context) =>
        previewRetirement(context, refOf(host), { force }),
      );
      return printPreview(environment, fleetPreviewRecord(found), json);
    }
    if (!yes && ask === undefined) {
      environment.err("uam: Retiring a host needs --yes if there is no terminal to ask at.\n");
      return EXIT.usage;
    }
    return await withServices(environment, "store", async (context) => {
      const { effects } = await previewRetirement(context, refOf(host), { force });
      const answer = yes ? "yes" : await ask?.(`${effects.join("\n")}\nGo on? [y/N] `);
      if (!/^y(es)?$/i.test(answer ?? "")) {
        environment.err("Nothing was changed.\n");
        return EXIT.failed;
      }
      const retirement = await retireHost(context, refOf(host), { force });
      const record = retirementRecord(retirement);
      if (json) printJson(environment, record);
      else printRecord(environment, { host: retirement.name, ...record });
      return EXIT.done;
    });
  };
}
