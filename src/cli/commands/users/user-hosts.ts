/** uam user hosts: where a user has an account. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { WantedHosts } from "../../../domain/hosts/grants.ts";
import { jsonFlag, userArgument } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { type Column, printJson, printTable, shortTime } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";
import { printHosts } from "./hosts-confirmed.ts";

export const userHostsCommand = command(
  "hosts",
  map(
    object({
      user: userArgument(),
      set: optional(
        option("--set", string({ metavar: "LIST" }), {
          description: message`All hosts that the user is to have, separated by commas; a group has @ before its name, as in @default,web1.`,
        }),
      ),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    (input) => run(input),
  ),
  {
    brief: message`Show or set where a user has an account.`,
    description: message`Shows where a user has an account, and how far each host is. With --set, gives the user exactly these hosts and groups: where one goes, the account there is removed with its home directory.`,
  },
);

type Place = ReturnType<typeof import("../../../server/fleet-records.ts").userHostsRecord>["items"][number];

const COLUMNS: readonly Column<Place>[] = [
  { header: "HOST", value: (place) => place.host, narrow: "cut" },
  { header: "GROUP", value: (place) => place.group || "-", narrow: "cut" },
  { header: "STATE", value: (place) => (place.removing ? `removing, ${place.state}` : place.state) },
  { header: "SINCE", value: (place) => shortTime(place.since) },
  { header: "PROBLEM", value: (place) => place.problem || "-", narrow: "either" },
];

interface Input {
  readonly user: string;
  readonly set: string | undefined;
  readonly preview: boolean;
  readonly json: boolean;
}

function run({ user, set, preview, json }: Input): Command {
  return async (environment) => {
    const { grantsOf, setUserHosts } = await import("../../../domain/hosts/grants.ts");
    const { listUserHosts } = await import("../../../domain/hosts/user-hosts.ts");
    const { fleetPreviewRecord, userHostsRecord } = await import("../../../server/fleet-records.ts");
    const wanted = set === undefined ? undefined : parseList(set);
    if (preview) {
      if (wanted === undefined) {
        environment.err("uam: --preview needs --set.\n");
        return EXIT.usage;
      }
      const { previewUserHosts } = await import("../../../domain/hosts/previews.ts");
      const found = await withServices(environment, "read", async (context) =>
        previewUserHosts(context, (await requireUserReferred(context, user)).id, wanted),
      );
      return printPreview(environment, fleetPreviewRecord(found), json);
    }
    const record = await withServices(environment, wanted === undefined ? "read" : "store", async (context) => {
      const { id } = await requireUserReferred(context, user);
      if (wanted !== undefined) printHosts(environment, (await setUserHosts(context, id, wanted)).taken);
      return userHostsRecord(await grantsOf(context.db, id), await listUserHosts(context, id));
    });
    if (json) printJson(environment, record);
    else await printTable(environment, COLUMNS, record.items);
    return EXIT.done;
  };
}

function parseList(list: string): WantedHosts {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return {
    hosts: names.filter((name) => !name.startsWith("@")),
    groups: names.filter((name) => name.startsWith("@")).map((name) => name.slice(1)),
  };
}
