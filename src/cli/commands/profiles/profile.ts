/** uam profile: what accounts of external users may do on hosts. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { ProfileChanges } from "../../../domain/profiles/fields.ts";
import type { Profile } from "../../../domain/profiles/profiles.ts";
import { PROFILE_KINDS } from "../../../shared/product/statuses.ts";
import { profileSentence } from "../../../shared/text/profile-sentence.ts";
import { jsonFlag, oneOf } from "../../terminal/arguments.ts";
import { type CliEnvironment, type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printRecord, printTable } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";
import { allowanceOf, allowanceOptions, profileArgument } from "../../terminal/profile-options.ts";
import { refOf } from "../hosts/lease-option.ts";
import { printHosts } from "../users/hosts-confirmed.ts";
import { profileTry } from "./profile-try.ts";

const list = command(
  "list",
  map(object({ json: jsonFlag() }), ({ json }) => runList(json)),
  { brief: message`List profiles, by name.` },
);

const show = command(
  "show",
  map(object({ profile: profileArgument(), json: jsonFlag() }), ({ profile, json }) => runShow(profile, json)),
  { brief: message`Show a profile.` },
);

const add = command(
  "add",
  map(
    object({
      name: argument(string({ metavar: "NAME" }), {
        description: message`1 to 24 letters a to z, digits and hyphens; begins with a letter. It is never another.`,
      }),
      kind: option("--kind", oneOf(PROFILE_KINDS, "KIND"), {
        description: message`shell: log in and run anything; sftp: files only; forward: connections to targets only; command: one program.`,
      }),
      ...allowanceOptions(),
      json: jsonFlag(),
    }),
    ({ name, kind, json, ...allowance }): Command =>
      async (environment) => {
        const { createProfile } = await load();
        const made = await withServices(environment, "change", (context) =>
          createProfile(context, { name, kind, ...allowanceOf(allowance) }),
        );
        return await printProfile(environment, made, json);
      },
  ),
  {
    brief: message`Make a profile. Nobody has it yet.`,
    description: message`Makes a profile. The service's own host holds it when this ends: sshd was asked. sftp needs --directory, forward needs --target, and command needs --command.`,
  },
);

const update = command(
  "update",
  map(
    object({ profile: profileArgument(), ...allowanceOptions(), preview: previewFlag(), json: jsonFlag() }),
    ({ profile, preview, json, ...allowance }) =>
      runUpdate({ profile, preview, json, changes: allowanceOf(allowance) }),
  ),
  {
    brief: message`Change what a profile allows.`,
    description: message`Changes what is given; lists are replaced. Where the profile allows less, or something else, everything that is open of the accounts that have it ends. Look at --preview first.`,
  },
);

const remove = command(
  "remove",
  map(object({ profile: profileArgument(), preview: previewFlag(), json: jsonFlag() }), (input) => runRemove(input)),
  { brief: message`Delete a profile that no user and no group of hosts has.` },
);

export const profileCommand = command("profile", or(list, show, add, update, remove, profileTry), {
  brief: message`Manage what accounts may do, and try it.`,
});

type ProfileRecord = ReturnType<typeof import("../../../server/profile-records.ts").profileRecord>;

const COLUMNS: readonly Column<ProfileRecord>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "NAME", value: ({ name }) => name },
  { header: "USERS", value: ({ users }) => users },
  { header: "SECOND FACTOR", value: factorOf, narrow: "drop" },
  { header: "WHO HAS IT", value: sentenceOf, narrow: "cut" },
];

/** Loaded only where it is used: help and completion must answer at once. */
function load() {
  return import("../../../domain/profiles/profiles.ts");
}

function factorOf({ second_factor: factor, attestation }: ProfileRecord): string {
  if (factor === "none") return "-";
  return attestation === "required" ? `${factor}, make proven` : factor;
}

function sentenceOf({ read_only: readOnly, ...record }: ProfileRecord): string {
  return profileSentence({ ...record, readOnly });
}

function runList(json: boolean): Command {
  return async (environment) => {
    const { listProfiles } = await load();
    const { profileRecord } = await import("../../../server/profile-records.ts");
    const items = (await withServices(environment, "read", listProfiles)).map(profileRecord);
    if (json) printJson(environment, { items });
    else await printTable(environment, COLUMNS, items);
    return EXIT.done;
  };
}

function runShow(profile: string, json: boolean): Command {
  return async (environment) => {
    const { getProfile } = await load();
    const found = await withServices(environment, "read", (context) => getProfile(context, refOf(profile)));
    return await printProfile(environment, found, json);
  };
}

/** Prints the profile: as the API's record and what else it answers, or with what it means in words. */
async function printProfile(
  environment: CliEnvironment,
  profile: Profile,
  json: boolean,
  known: object = {},
): Promise<number> {
  const { profileRecord } = await import("../../../server/profile-records.ts");
  const record = profileRecord(profile);
  if (json) printJson(environment, { ...record, ...known });
  else {
    const { targets, forwarding, groups, sudo, ...others } = record;
    const lists = { targets: targets.join(" "), groups: groups.join(" "), sudo: sudo.join(" ") };
    const forwarded = Array.isArray(forwarding) ? forwarding.join(" ") : forwarding;
    printRecord(environment, { ...others, ...lists, forwarding: forwarded, means: sentenceOf(record) });
  }
  return EXIT.done;
}

interface Named {
  readonly profile: string;
  readonly preview: boolean;
  readonly json: boolean;
}

function runUpdate({ profile, preview, json, changes }: Named & { readonly changes: ProfileChanges }): Command {
  return async (environment) => {
    if (Object.values(changes).every((change) => change === undefined)) {
      environment.err("uam: Nothing to change: give what the profile is to allow; --help has the options.\n");
      return EXIT.usage;
    }
    const { previewProfile, updateProfile } = await import("../../../domain/profiles/update.ts");
    if (preview) {
      const { profilePreviewRecord } = await import("../../../server/profile-records.ts");
      const found = await withServices(environment, "read", (context) =>
        previewProfile(context, refOf(profile), changes),
      );
      return printPreview(environment, profilePreviewRecord(found), json);
    }
    const { awaitRecord } = await import("../../../domain/hosts/confirmation.ts");
    const { hostsRecord } = await import("../../../server/records.ts");
    const { changed, known } = await withServices(environment, "change", async (context) => {
      const { profile: changed, record } = await updateProfile(context, refOf(profile), changes);
      return { changed, known: record === undefined ? undefined : await awaitRecord(context, record) };
    });
    await printProfile(environment, changed, json, hostsRecord(known));
    printHosts(environment, known);
    return EXIT.done;
  };
}

function runRemove({ profile, preview, json }: Named): Command {
  return async (environment) => {
    const { deleteProfile, previewProfileDelete } = await load();
    if (preview) {
      const { profilePreviewRecord } = await import("../../../server/profile-records.ts");
      const found = await withServices(environment, "read", (context) => previewProfileDelete(context, refOf(profile)));
      return printPreview(environment, profilePreviewRecord(found), json);
    }
    await withServices(environment, "change", (context) => deleteProfile(context, refOf(profile)));
    if (json) printJson(environment, { status: "deleted" });
    else environment.err(`Deleted the profile ${profile}.\n`);
    return EXIT.done;
  };
}
