/** uam host group: hosts that users are given together. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, multiple } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { GroupChanges } from "../../../domain/hosts/group-plan.ts";
import type { HostGroup } from "../../../domain/hosts/groups.ts";
import type { Context } from "../../../domain/operation/context.ts";
import { jsonFlag, textOption } from "../../terminal/arguments.ts";
import { offering } from "../../terminal/completion.ts";
import { type Command, EXIT, type Purpose, withServices } from "../../terminal/environment.ts";
import { readHours } from "../../terminal/hours.ts";
import { type Column, printJson, printRecord, printTable } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";
import { profileOption } from "../../terminal/profile-options.ts";
import { hoursOption } from "../users/user-hours.ts";
import { groupArgument, leaseOf, leaseOption, refOf } from "./lease-option.ts";

const list = command(
  "list",
  map(object({ json: jsonFlag() }), ({ json }) => runList(json)),
  { brief: message`List the groups of hosts.` },
);

const show = command(
  "show",
  map(object({ group: groupArgument(), json: jsonFlag() }), ({ group, json }) =>
    withGroup("read", json, async (context) =>
      (await import("../../../domain/hosts/groups.ts")).getGroup(context, refOf(group)),
    ),
  ),
  { brief: message`Show a group of hosts.` },
);

const create = command(
  "create",
  map(
    object({
      name: argument(string({ metavar: "NAME" }), { description: message`What the group is to be called.` }),
      hosts: hostNames("--host", message`A host of the group; can be given several times.`),
      lease: leaseOption(),
      hours: hoursOption(),
      profile: groupProfileOption(),
      json: jsonFlag(),
    }),
    ({ name, hosts, lease, hours, profile, json }) =>
      withGroup("store", json, async (context) => {
        const { createGroup } = await import("../../../domain/hosts/groups.ts");
        return await createGroup(context, {
          name,
          hosts,
          lease: leaseOf(lease),
          profile,
          ...(await givenHours(hours)),
        });
      }),
  ),
  { brief: message`Make a group of hosts. No user has it yet.` },
);

const update = command(
  "update",
  map(
    object({
      group: groupArgument(),
      name: textOption("--name", "NAME", message`The new name.`),
      add: hostNames("--add", message`A host that joins the group; can be given several times.`),
      remove: hostNames("--remove", message`A host that leaves the group; can be given several times.`),
      lease: leaseOption(),
      hours: hoursOption(),
      profile: groupProfileOption(),
      forNewUsers: option("--for-new-users", {
        description: message`New users get this group, instead of the one that they got before.`,
      }),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    (input) => runUpdate(input),
  ),
  {
    brief: message`Change a group: its hosts, its name, its lease, its hours or its profile.`,
    description: message`Changes what is given. Whoever has the group gets an account on each host that joins, and loses it, with the home directory, on each that leaves and that they have by nothing else. Hours limit every account on the group's hosts. A profile binds whoever comes to them by the group; where it allows less than before, everything that is open there ends. Look at --preview first.`,
  },
);

const remove = command(
  "delete",
  map(object({ group: groupArgument(), preview: previewFlag(), json: jsonFlag() }), (input) => runDelete(input)),
  { brief: message`Delete a group of hosts that no user has.` },
);

export const hostGroupCommand = command("group", or(list, show, create, update, remove), {
  brief: message`Manage groups of hosts.`,
});

function groupProfileOption() {
  return profileOption(
    message`What whoever comes to its hosts by the group may do there; "none" for what their own profile says.`,
  );
}

function hostNames(name: `--${string}`, description: ReturnType<typeof message>) {
  return multiple(option(name, offering(string({ metavar: "HOST" }), "hosts"), { description }));
}

type GroupRecord = ReturnType<typeof import("../../../server/fleet-records.ts").hostGroupRecord>;

const COLUMNS: readonly Column<GroupRecord>[] = [
  { header: "ID", value: (group) => group.id },
  { header: "NAME", value: (group) => group.name, narrow: "cut" },
  { header: "USERS", value: (group) => group.users },
  { header: "NEW USERS", value: (group) => (group.for_new_users ? "yes" : "-") },
  { header: "LEASE", value: (group) => group.lease ?? "-" },
  { header: "HOSTS", value: (group) => group.hosts.join(" ") || "-", narrow: "cut" },
];

function runList(json: boolean): Command {
  return async (environment) => {
    const { listGroups } = await import("../../../domain/hosts/groups.ts");
    const { hostGroupRecord } = await import("../../../server/fleet-records.ts");
    const items = (await withServices(environment, "read", listGroups)).map(hostGroupRecord);
    if (json) printJson(environment, { items });
    else await printTable(environment, COLUMNS, items);
    return EXIT.done;
  };
}

function withGroup(purpose: Purpose, json: boolean, work: (context: Context) => Promise<HostGroup>): Command {
  return async (environment) => {
    const { hostGroupRecord } = await import("../../../server/fleet-records.ts");
    const record = hostGroupRecord(await withServices(environment, purpose, work));
    if (json) printJson(environment, record);
    else {
      const { formatHours } = await import("../../../shared/hours/text.ts");
      const hours = record.hours === null ? "always" : formatHours(record.hours);
      printRecord(environment, { ...record, hosts: record.hosts.join(" "), hours });
    }
    return EXIT.done;
  };
}

interface UpdateInput {
  readonly group: string;
  readonly name: string | undefined;
  readonly add: readonly string[];
  readonly remove: readonly string[];
  readonly lease: string | undefined;
  readonly hours: string | undefined;
  readonly profile: string | null | undefined;
  readonly forNewUsers: boolean;
  readonly preview: boolean;
  readonly json: boolean;
}

/** Nothing where they are not given. */
async function givenHours(hours: string | undefined) {
  return hours === undefined ? {} : { hours: await readHours(hours) };
}

function runUpdate({ group, preview, json, forNewUsers, hours, ...input }: UpdateInput): Command {
  const given = (hosts: readonly string[]) => (hosts.length === 0 ? undefined : hosts);
  return async (environment) => {
    const changes: GroupChanges = {
      ...{ name: input.name, add: given(input.add), remove: given(input.remove), lease: leaseOf(input.lease) },
      profile: input.profile,
      ...(await givenHours(hours)),
      isDefault: forNewUsers ? true : undefined,
    };
    if (Object.values(changes).every((change) => change === undefined)) {
      environment.err(
        "uam: Nothing to change: give --name, --add, --remove, --lease, --hours, --profile or --for-new-users.\n",
      );
      return EXIT.usage;
    }
    if (!preview) {
      const { updateGroup } = await import("../../../domain/hosts/groups.ts");
      // A profile changes what accounts of this host are in, and what sshd lets them do.
      const purpose = input.profile === undefined ? "store" : "change";
      return await withGroup(purpose, json, (context) => updateGroup(context, refOf(group), changes))(environment);
    }
    const { previewGroup } = await import("../../../domain/hosts/previews.ts");
    const { fleetPreviewRecord } = await import("../../../server/fleet-records.ts");
    const found = await withServices(environment, "read", (context) => previewGroup(context, refOf(group), changes));
    return printPreview(environment, fleetPreviewRecord(found), json);
  };
}

interface DeleteInput {
  readonly group: string;
  readonly preview: boolean;
  readonly json: boolean;
}

function runDelete({ group, preview, json }: DeleteInput): Command {
  return async (environment) => {
    const { deleteGroup } = await import("../../../domain/hosts/groups.ts");
    const { previewGroupDelete } = await import("../../../domain/hosts/previews.ts");
    const { fleetPreviewRecord } = await import("../../../server/fleet-records.ts");
    if (preview) {
      const found = await withServices(environment, "read", (context) => previewGroupDelete(context, refOf(group)));
      return printPreview(environment, fleetPreviewRecord(found), json);
    }
    await withServices(environment, "store", (context) => deleteGroup(context, refOf(group)));
    if (json) printJson(environment, { status: "deleted" });
    else environment.err(`Deleted the group ${group}.\n`);
    return EXIT.done;
  };
}
