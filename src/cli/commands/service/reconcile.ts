/** uam reconcile: compares the host with what is stored, and repairs it. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import type { Drift } from "../../../protocol/host.ts";
import { jsonFlag } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printTable } from "../../terminal/output.ts";

export const reconcileCommand = command(
  "reconcile",
  map(
    object({
      check: option("--check", { description: message`Only report.` }),
      json: jsonFlag(),
    }),
    (input) => runReconcile(input),
  ),
  {
    brief: message`Repair what differs on the host from what is stored.`,
    description: message`Compares accounts and authorized-keys files with what is stored, and repairs what differs. Exits 1 if something could not be repaired or, with --check, if anything differs. A missing account is reported, not made: see uam user rebuild.`,
  },
);

const COLUMNS: readonly Column<Drift>[] = [
  { header: "ACCOUNT", value: (drift) => drift.account || "-" },
  { header: "REPAIRED", value: (drift) => (drift.repaired ? "yes" : "no") },
  { header: "PROBLEM", value: (drift) => drift.problem },
];

function runReconcile({ check, json }: { readonly check: boolean; readonly json: boolean }): Command {
  return async (environment) => {
    const { reconcileHost } = await import("../../../domain/lifecycle/reconcile.ts");
    const { items, mode } = await withServices(environment, check ? "read" : "change", async (context, config) => ({
      items: await reconcileHost(context, config.dataDir, check ? "check" : "repair at once"),
      mode: context.host.mode,
    }));
    if (json) printJson(environment, { items });
    else if (items.length > 0) await printTable(environment, COLUMNS, items);
    else if (mode === "none") environment.err("UAM_LOCAL_HOST is off: there is no host to compare with.\n");
    else environment.err("The host matches what is stored.\n");
    return items.every((drift) => drift.repaired) ? EXIT.done : EXIT.failed;
  };
}
