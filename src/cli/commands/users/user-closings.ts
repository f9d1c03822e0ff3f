/** uam user disable and delete: take a user's access away, on this host and on those with agents. */

import { systemClock } from "../../../shared/time/clock.ts";
import type { UserRow } from "../../../store/schema.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { printJson, printRecord } from "../../terminal/output.ts";
import { confirmed } from "./confirmed.ts";
import { awaitHostsOf, printHosts } from "./hosts-confirmed.ts";

interface DisableInput {
  readonly user: string;
  readonly reason: string | undefined;
  readonly json: boolean;
}

/** Disables the user, and prints them as they then are. */
export function runDisable({ user: reference, reason, json }: DisableInput): Command {
  return async (environment) => {
    const { disableUser } = await import("../../../domain/users/users.ts");
    const { hostsRecord, userRecord } = await import("../../../server/records.ts");
    const { user, known } = await withServices(environment, "change", async (context) => {
      const disabled = await disableUser(context, (await requireUserReferred(context, reference)).id, { reason });
      return { user: disabled, known: await awaitHostsOf(context, disabled.id) };
    });
    const record = userRecord(user, systemClock.now());
    if (json) printJson(environment, { ...record, ...hostsRecord(known) });
    else printRecord(environment, record);
    if (!json) printHosts(environment, known);
    return EXIT.done;
  };
}

interface DeleteInput {
  readonly user: string;
  readonly reason: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
}

/** Deletes the user, after asking. */
export function runDelete({ reason, json, ...given }: DeleteInput): Command {
  const what = (user: UserRow) =>
    `${user.username} (id ${user.id}), the host account ext_${user.username} and its home directory`;
  const question = (user: UserRow) => `Delete ${what(user)}?`;
  return (environment) =>
    confirmed(
      environment,
      { ...given, doing: "Deleting", question, refused: "Nothing was deleted." },
      async (context, user) => {
        const { deleteUser } = await import("../../../domain/users/users.ts");
        const { hostsRecord } = await import("../../../server/records.ts");
        await deleteUser(context, user.id, { reason });
        const known = await awaitHostsOf(context, user.id);
        if (json) printJson(environment, { status: "deleted", ...hostsRecord(known) });
        else environment.err(`Deleted ${what(user)}.\n`);
        if (!json) printHosts(environment, known);
      },
    );
}
