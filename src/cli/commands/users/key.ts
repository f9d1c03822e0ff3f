/** uam key: the SSH public keys of external users. Users upload their own; an administrator can revoke them. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { integer, string } from "@optique/core/valueparser";
import { jsonFlag, userArgument } from "../../terminal/arguments.ts";
import { offering } from "../../terminal/completion.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { type Column, printJson, printRecord, printTable, shortTime } from "../../terminal/output.ts";
import { awaitHostsOf, printHosts } from "./hosts-confirmed.ts";
import { foundKeyCommands } from "./key-found.ts";

const list = command(
  "list",
  map(object({ user: userArgument(), json: jsonFlag() }), (input) => runList(input)),
  {
    brief: message`List a user's active keys, oldest first.`,
  },
);

const revoke = command(
  "revoke",
  map(
    object({
      user: userArgument(),
      key: argument(offering(integer({ min: 1, metavar: "KEYID" }), "keys"), {
        description: message`The key's id, as uam key list shows it.`,
      }),
      json: jsonFlag(),
    }),
    (input) => runRevoke(input),
  ),
  {
    brief: message`Revoke a user's key at once.`,
    description: message`Removes the key from the authorized-keys file at once, and ends the sessions that were opened with it.`,
  },
);

const free = command(
  "free",
  map(
    object({
      fingerprint: argument(string({ metavar: "FINGERPRINT" }), {
        description: message`As ssh-keygen -l prints it: SHA256:…`,
      }),
      json: jsonFlag(),
    }),
    (input) => runFree(input),
  ),
  {
    brief: message`Revoke a key that somebody other than its owner uploaded.`,
    description: message`Revokes the active key with that fingerprint, whoever has it, so that its owner can upload it. First make sure who the owner is, for example by having them sign something with the key (ssh-keygen -Y sign).`,
  },
);

export const keyCommand = command("key", or(list, revoke, free, foundKeyCommands), {
  brief: message`List and revoke SSH public keys.`,
});

type KeyRecord = ReturnType<typeof import("../../../server/records.ts").keyRecord>;

const COLUMNS: readonly Column<KeyRecord>[] = [
  { header: "ID", value: (key) => key.id },
  { header: "NAME", value: (key) => key.name, narrow: "cut" },
  { header: "TYPE", value: (key) => key.type, narrow: "drop" },
  { header: "BITS", value: (key) => key.bits, narrow: "drop" },
  { header: "FINGERPRINT", value: (key) => key.fingerprint },
  { header: "CREATED", value: (key) => shortTime(key.created_at), narrow: "drop" },
  { header: "LAST USED", value: (key) => (key.last_used_at === null ? "-" : shortTime(key.last_used_at)) },
  { header: "FROM", value: (key) => key.last_used_from || "-", narrow: "drop" },
  { header: "MODEL", value: (key) => key.model ?? "-", narrow: "drop" },
  { header: "NETWORKS", value: (key) => key.source_networks.join(" ") || "-", narrow: "either" },
];

function runList({ user, json }: { readonly user: string; readonly json: boolean }): Command {
  return async (environment) => {
    const { listKeys } = await import("../../../domain/keys/keys.ts");
    const { keyRecord } = await import("../../../server/records.ts");
    const keys = await withServices(environment, "read", async (context) =>
      listKeys(context, (await requireUserReferred(context, user)).id),
    );
    const items = keys.map(keyRecord);
    if (json) printJson(environment, { items });
    else await printTable(environment, COLUMNS, items);
    return EXIT.done;
  };
}

interface RevokeInput {
  readonly user: string;
  readonly key: number;
  readonly json: boolean;
}

function runRevoke({ user, key, json }: RevokeInput): Command {
  return async (environment) => {
    const { revokeKey } = await import("../../../domain/keys/keys.ts");
    const { hostsRecord, keyRecord } = await import("../../../server/records.ts");
    const { revoked, known } = await withServices(environment, "change", async (context) => {
      const { id } = await requireUserReferred(context, user);
      return { revoked: await revokeKey(context, id, key), known: await awaitHostsOf(context, id) };
    });
    if (json) printJson(environment, { ...keyRecord(revoked), ...hostsRecord(known) });
    else printRecord(environment, keyRecord(revoked));
    if (!json) printHosts(environment, known);
    return EXIT.done;
  };
}

function runFree({ fingerprint, json }: { readonly fingerprint: string; readonly json: boolean }): Command {
  return async (environment) => {
    const { freeKey } = await import("../../../domain/keys/free.ts");
    const { keyRecord } = await import("../../../server/records.ts");
    const { key, holder } = await withServices(environment, "change", (context) =>
      freeKey(context, fingerprint.trim()),
    );
    if (json) printJson(environment, { username: holder.username, ...keyRecord(key) });
    else {
      printRecord(environment, { username: holder.username, ...keyRecord(key) });
      environment.err(`${holder.username} no longer has this key; its owner can upload it now.\n`);
    }
    return EXIT.done;
  };
}
