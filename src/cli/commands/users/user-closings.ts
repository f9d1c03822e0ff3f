/** uam user disable and delete: take the access of one user away, or of several, on this host and on those with agents. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command } from "@optique/core/primitives";
import type { Confirmation } from "../../../domain/hosts/confirmation.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import type { UserRow } from "../../../store/schema.ts";
import { jsonFlag, reasonOption } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { printJson } from "../../terminal/output.ts";
import { previewFlag, previewUser } from "../../terminal/preview.ts";
import { onlyName, type Selection, selectionOptions } from "../../terminal/user-selection.ts";
import { confirmed, yesFlag } from "./confirmed.ts";
import { awaitHostsOf, hostsSentence, printHosts } from "./hosts-confirmed.ts";
import { changeSeveral, previewSeveral, type SeveralChange } from "./several.ts";
import { printUserFields } from "./shown-user.ts";

export const disableCommand = command("disable", map(options(), runDisable), {
  brief: message`End the access of one user, or of several, at once.`,
  description: message`For several users, by NAMEs or by a filter, it asks once, unless --yes is given, and with --json prints a line for each user. A filter without --status leaves out whoever has no access anyway. Exits with 1 if somebody was not disabled, or if nobody matches.`,
});

export const deleteCommand = command("delete", map(options(), runDelete), {
  brief: message`Delete users, their host accounts and home directories.`,
  description: message`Deletes one user, or several, with their keys, host accounts and home directories. The audit records stay. Asks first, unless --yes is given: for several users, by NAMEs or by a filter, their number has to be typed. With --json it prints a line for each of several. Exits with 1 if somebody was not deleted, or if nobody matches.`,
});

function options() {
  return object({
    ...selectionOptions(),
    reason: reasonOption(),
    yes: yesFlag(),
    preview: previewFlag(),
    json: jsonFlag(),
  });
}

interface Input extends Selection {
  readonly reason: string | undefined;
  readonly yes: boolean;
  readonly preview: boolean;
  readonly json: boolean;
}

/** Loaded only where it is used: help and completion must answer at once. */
function previews() {
  return import("../../../domain/users/preview.ts");
}

function runDisable({ reason, yes, preview, json, ...selection }: Input): Command {
  const user = onlyName(selection);
  const change: SeveralChange = {
    ...{ selection, reason, yes, json },
    words: { verb: "disable", done: "disabled", doing: "Disabling" },
    how: "",
    leavesOut: (status) => status !== "active",
    make: async (context, { id }, given) => {
      const { disableUser } = await import("../../../domain/users/users.ts");
      const { userRecord } = await import("../../../server/records.ts");
      return { record: userRecord(await disableUser(context, id, given), context.clock.now()) };
    },
    preview: async (context, { id }) => (await previews()).previewDisable(context, id, reason),
    closes: true,
  };
  if (user === undefined) return preview ? previewSeveral(change) : changeSeveral(change);
  return preview ? previewUser({ user, json }, change.preview) : disableOne({ user, reason, json });
}

interface One {
  readonly user: string;
  readonly reason: string | undefined;
  readonly json: boolean;
}

/** Disables the user, and prints them as they then are. */
function disableOne({ user: reference, reason, json }: One): Command {
  return async (environment) => {
    const { disableUser } = await import("../../../domain/users/users.ts");
    const { hostsRecord, userRecord } = await import("../../../server/records.ts");
    const { user, known, isPlanned } = await withServices(environment, "change", async (context) => {
      const { id } = await requireUserReferred(context, reference);
      const user = await disableUser(context, id, { reason });
      return { user, known: await awaitHostsOf(context, id), isPlanned: context.host.mode === "dry-run" };
    });
    if (json) {
      printJson(environment, { ...userRecord(user, systemClock.now()), ...hostsRecord(known) });
      return EXIT.done;
    }
    environment.err(`${outcome(user, known, isPlanned)}\n\n`);
    await printUserFields(environment, user);
    return EXIT.done;
  };
}

/** The state of the access now, in sentences. */
function outcome({ username }: UserRow, known: Confirmation | undefined, isPlanned: boolean): string {
  const isEverywhere = known === undefined || known.confirmed === known.total;
  const ended = isPlanned
    ? `${username} is disabled; this host is not changed (UAM_HOST_MODE is dry-run).`
    : isEverywhere
      ? `The access of ${username} has ended.`
      : `${username} is disabled.`;
  return known === undefined ? ended : `${ended} ${hostsSentence(known)}`;
}

function runDelete({ reason, yes, preview, json, ...selection }: Input): Command {
  const user = onlyName(selection);
  const change: SeveralChange = {
    ...{ selection, reason, yes, json },
    words: { verb: "delete", done: "deleted", doing: "Deleting" },
    how: ", with their host accounts and home directories",
    isFinal: true,
    make: async (context, { id, username }, given) => {
      const { deleteUser } = await import("../../../domain/users/users.ts");
      await deleteUser(context, id, given);
      return { record: { id, username, status: "deleted" } };
    },
    preview: async (context, { id }) => (await previews()).previewDelete(context, id, reason),
    closes: true,
  };
  if (user === undefined) return preview ? previewSeveral(change) : changeSeveral(change);
  return preview ? previewUser({ user, json }, change.preview) : deleteOne({ user, reason, yes, json });
}

/** Deletes the user, after asking. */
function deleteOne({ reason, json, ...given }: One & { readonly yes: boolean }): Command {
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
