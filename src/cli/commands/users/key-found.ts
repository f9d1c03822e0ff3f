/** uam key found, uam key confirm and uam key dismiss: the keys that were in an account when it was adopted. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, multiple } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { jsonFlag, userArgument } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { type Column, printJson, printTable } from "../../terminal/output.ts";

const found = command(
  "found",
  map(object({ user: userArgument(), json: jsonFlag() }), (input) => runFound(input)),
  {
    brief: message`List the keys that were found when an account was adopted.`,
    description: message`Lists the keys that sshd read for an account before it was adopted. None of them counts until uam key confirm. Run it as root.`,
  },
);

const confirm = command(
  "confirm",
  map(
    object({
      user: userArgument(),
      fingerprints: multiple(
        argument(string({ metavar: "FINGERPRINT" }), { description: message`As uam key found shows it: SHA256:…` }),
      ),
      all: option("--all", { description: message`All keys that were found, and neither stored nor dismissed.` }),
      json: jsonFlag(),
    }),
    (input) => runConfirm(input),
  ),
  {
    brief: message`Let keys count that were found when an account was adopted.`,
    description: message`Stores the keys, so that they open the account. What limited a key in its file, such as from= or command=, is not kept. From the first one on the account cannot be given back. Run it as root.`,
  },
);

const dismiss = command(
  "dismiss",
  map(
    object({
      user: userArgument(),
      fingerprints: multiple(
        argument(string({ metavar: "FINGERPRINT" }), { description: message`As uam key found shows it: SHA256:…` }),
        { min: 1 },
      ),
    }),
    (input) => runDismiss(input),
  ),
  {
    brief: message`Dismiss keys that were found when an account was adopted.`,
    description: message`Notes that the keys shall not count. They cannot be confirmed later, but the user can upload them. Run it as root.`,
  },
);

export const foundKeyCommands = or(found, confirm, dismiss);

type FoundRecord = ReturnType<typeof import("../../../server/found-key-record.ts").foundKeyRecord>;

const COLUMNS: readonly Column<FoundRecord>[] = [
  { header: "FINGERPRINT", value: ({ fingerprint }) => fingerprint },
  { header: "STATUS", value: ({ status, refusal }) => (status === "found" && refusal !== "" ? "refused" : status) },
  { header: "TYPE", value: ({ type }) => type, narrow: "drop" },
  { header: "OPTIONS", value: ({ options }) => options || "-", narrow: "either" },
  { header: "COMMENT", value: ({ comment }) => comment || "-", narrow: "either" },
  { header: "FOUND IN", value: ({ found_in }) => found_in || "-", narrow: "drop" },
];

function runFound({ user, json }: { readonly user: string; readonly json: boolean }): Command {
  return async (environment) => {
    const { requireFoundKeys } = await import("../../../domain/adoption/found.ts");
    const { foundKeyRecord } = await import("../../../server/found-key-record.ts");
    const keys = await withServices(environment, "read", async (context) =>
      requireFoundKeys(context, (await requireUserReferred(context, user)).id),
    );
    const items = keys.map(foundKeyRecord);
    if (json) printJson(environment, { items });
    else await printTable(environment, COLUMNS, items);
    return EXIT.done;
  };
}

interface ConfirmInput {
  readonly user: string;
  readonly fingerprints: readonly string[];
  readonly all: boolean;
  readonly json: boolean;
}

function runConfirm({ user, fingerprints, all, json }: ConfirmInput): Command {
  return async (environment) => {
    if (all === fingerprints.length > 0) {
      environment.err("uam: Give the fingerprints of the keys, or --all.\n");
      return EXIT.usage;
    }
    const { confirmKeys } = await import("../../../domain/adoption/found.ts");
    const { keyRecord } = await import("../../../server/records.ts");
    const keys = await withServices(environment, "change", async (context) =>
      confirmKeys(context, (await requireUserReferred(context, user)).id, all ? "all" : fingerprints),
    );
    if (json) printJson(environment, { items: keys.map(keyRecord) });
    else for (const { name, fingerprint } of keys) environment.err(`${fingerprint} (${name}) opens the account.\n`);
    return EXIT.done;
  };
}

function runDismiss({ user, fingerprints }: Pick<ConfirmInput, "user" | "fingerprints">): Command {
  return async (environment) => {
    const { dismissKeys } = await import("../../../domain/adoption/found.ts");
    await withServices(environment, "change", async (context) =>
      dismissKeys(context, (await requireUserReferred(context, user)).id, fingerprints),
    );
    environment.err("These keys will not count; the user can upload them.\n");
    return EXIT.done;
  };
}
